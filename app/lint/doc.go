// Package lint holds no code of the program, only tests about the source itself: which package may import which, that
// the program is static, that files stay readable and that everything exported is documented.
package lint
