// Package assets holds what is built into the window: icons and translations. Screenshots and reports lie beside them and are
// not built in.
package assets

import "embed"

// Translations are files of JSON, translations/LANGUAGE.json: from the English text to its translation. English itself is
// there in full for translators.
//
//go:embed translations
var Translations embed.FS

// Icons are the drawings of the program.
//
//go:embed icons
var Icons embed.FS
