package report

import _ "embed"

//go:embed record.schema.json
var schema string

// JSONSchema is the JSON Schema (draft 2020-12) of a stored record.
func JSONSchema() string { return schema }
