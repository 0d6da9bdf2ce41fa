package report

import "time"

// ExperimentVersion is the version of the JSON form described by experiment.schema.json.
const ExperimentVersion = 1

// Kinds of experiments.
const (
	KindCopy    = "copy"    // plain to plain, plain to encrypted, encrypted to plain
	KindCiphers = "ciphers" // every cipher with every authentication
	KindDrive   = "drive"   // sequential, random and metadata work on a mounted drive
)

// Experiment is everything a report of an experiment shows, so that exports need no knowledge of what was measured.
// Like a Record it holds no name from inside a container. Its JSON tags are stable; fields are only added. Numbers are
// finite: NaN and infinities cannot be exported.
type Experiment struct {
	Schema   int       `json:"schema"`
	ID       string    `json:"id"`   // as NewID makes it
	Kind     string    `json:"kind"` // one of the kinds
	Title    string    `json:"title"`
	Started  time.Time `json:"started"`  // UTC
	Finished time.Time `json:"finished"` // UTC
	Version  string    `json:"version"`  // name and version of the program
	Machine  Machine   `json:"machine"`

	// Method says how it was measured, in the order in which a reader wants to know; see the Method names.
	Method []Method `json:"method"`
	Tables []Table  `json:"tables"`
	Bars   []Chart  `json:"bars"`
	// Transfers are the records of the median rounds: their time series and phases become pictures.
	Transfers []*Record `json:"transfers"`
	// Remarks are sentences for people: what disturbed a run, which cache was not dropped and why.
	Remarks []string `json:"remarks"`
}

// Names of what the method of every experiment states; CheckMethod tells which are missing.
const (
	MethodWindow   = "Window"   // length of the windows behind maximum and minimum
	MethodCache    = "Cache"    // whether caches were dropped before each round, and why not
	MethodSync     = "Sync"     // whether the final sync is inside the time
	MethodOrder    = "Order"    // how rounds of what is compared alternate
	MethodRounds   = "Rounds"   // how many, and which figure is shown
	MethodMachine  = "Machine"  // processor, cores, memory, system, file system, device
	MethodVersions = "Versions" // of the program and what it was compared with
)

// Method is one sentence or two about how an experiment was made.
type Method struct {
	Name string `json:"name"` // "Window", ...: the head of the line
	Text string `json:"text"`
}

// Table is a table of results.
type Table struct {
	Title string `json:"title"`
	Note  string `json:"note"` // "" or a sentence below the table
	// RowTitle heads the column of labels: "operation", "algorithm".
	RowTitle string   `json:"rowTitle"`
	Columns  []Column `json:"columns"`
	Rows     []Row    `json:"rows"` // each with as many cells as there are columns
}

// Column is the head of a column.
type Column struct {
	// Group, when not "", heads this column and those beside it of the same group: "sequential output" in the layout of
	// bonnie++.
	Group          string `json:"group,omitempty"`
	Name           string `json:"name"`
	Unit           string `json:"unit"` // "MB/s", "s", ...; "" for none. Figures are given in this unit
	HigherIsBetter bool   `json:"higherIsBetter"`
}

// Row is one line of a table.
type Row struct {
	Label string `json:"label"`
	// Reference marks figures that others published: they are drawn apart from what was measured here.
	Reference bool   `json:"reference"`
	Source    string `json:"source"` // of a reference: who published it, where, when
	Cells     []Cell `json:"cells"`
}

// Cell is text or a figure; neither is an empty cell.
type Cell struct {
	Text   string  `json:"text,omitempty"`
	Figure *Figure `json:"figure,omitempty"`
}

// Figure is what several rounds measured. MakeFigure computes it from the rounds; a published figure has only Median.
type Figure struct {
	Median float64   `json:"median"`
	Min    float64   `json:"min"` // Min to Q3 are 0 when Rounds is 0
	Max    float64   `json:"max"`
	Q1     float64   `json:"q1"` // quartiles, by linear interpolation
	Q3     float64   `json:"q3"`
	Rounds int       `json:"rounds"` // 0: published, nothing is known about rounds
	Values []float64 `json:"values"` // of all rounds, in the order they were run
	// Ratio is Median divided by that of the baseline in the same column, better the median of the ratios of rounds run
	// side by side; 0: none.
	Ratio float64 `json:"ratio,omitempty"`
	// CPUSeconds is the processor time of the median round; 0: unknown.
	CPUSeconds float64 `json:"cpuSeconds,omitempty"`
	// Disturbed is set when the rounds differ more than DisturbedSpread.
	Disturbed bool `json:"disturbed"`
}

// Chart is bars side by side: one group for each label on the axis, in it one bar for each series.
type Chart struct {
	Title string `json:"title"`
	Unit  string `json:"unit"` // of all values: "MB/s", "ratio to plain", ...
	// Line, when not 0, is drawn across the bars with LineName beside it: 1 for a ratio to plain.
	Line     float64  `json:"line,omitempty"`
	LineName string   `json:"lineName,omitempty"`
	Log      bool     `json:"log,omitempty"` // logarithmic axis: for values that differ more than thirtyfold
	Groups   []string `json:"groups"`
	Series   []Series `json:"series"`
}

// Series is one bar in every group.
type Series struct {
	Name      string    `json:"name"`
	Reference bool      `json:"reference"` // published, drawn hatched and grey
	Source    string    `json:"source"`    // of a reference
	Values    []float64 `json:"values"`    // one for each group; 0: none, no bar is drawn
	// Low and High are the ends of the whiskers, one for each group; empty: none.
	Low  []float64 `json:"low"`
	High []float64 `json:"high"`
}
