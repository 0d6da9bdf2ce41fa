package report

import _ "embed"

//go:embed record.schema.json
var recordSchema string

//go:embed records.schema.json
var recordsSchema string

//go:embed experiment.schema.json
var experimentSchema string

//go:embed comparison.schema.json
var comparisonSchema string

// JSONSchema is the JSON Schema (draft 2020-12) of a stored record.
func JSONSchema() string { return recordSchema }

// RecordsSchema is the JSON Schema (draft 2020-12) of exported records, an array; it refers to that of a record by its $id.
func RecordsSchema() string { return recordsSchema }

// ExperimentSchema is the JSON Schema (draft 2020-12) of an experiment; it refers to that of a record by its $id.
func ExperimentSchema() string { return experimentSchema }

// ComparisonSchema is the JSON Schema (draft 2020-12) of a comparison; it refers to that of an experiment by its $id.
func ComparisonSchema() string { return comparisonSchema }
