package main

import (
	"strings"
	"testing"
)

const printed = `engine     unit  request     ours  openssl  median  least to most
AES-NI     4096    65536     5.01     4.70    1.07  1.01 to 1.10
VAES512    4096    65536    17.01     4.70    3.81  3.51 to 3.90
VAES512    4096     4096    13.01     4.70    2.89  2.51 to 2.90
VAES512     512    65536    11.01     4.70    3.31  3.21 to 3.40
    versuscp_test.go:120: [a] in   ratio 1.34 (quartiles 1.32 to 1.36, 11 pairs)  cp+sync 1.911 s  coffer 1.426 s
    versuscp_test.go:120: [small] out  ratio 2.49 (quartiles 2.41 to 2.51, 11 pairs)  cp+sync 1.9 s  coffer 1.4 s
`

const printedDrive = `medians                                    plain    coffer gocryptfs         coffer / plain (quartiles, n) coffer / gocryptfs verdict
copy in [b]                                  895       985       239 MB/s    1.03 (0.43 to 1.44, 2)       1.61 (1.56 to 1.65)  met: 0.90 of plain
create 5,000 files                          5256      5445      2117 files/s 1.51 (1.10 to 1.91, 2)       2.57 (2.55 to 2.59)  met: 1.8 of gocryptfs (itself 0.59 of plain)
`

func TestParse(t *testing.T) {
	got := parse(printed + printedDrive)
	for head, want := range map[string]string{"engine / openssl": "3.81", "in [a]": "1.34", "out 20,000 x 1 KB": "2.49", "drive: in [b]": "1.03", "drive: create / gocryptfs": "2.57"} {
		if got[head] != want {
			t.Errorf("%s: %q, want %q", head, got[head], want)
		}
	}
	if len(got) != 5 {
		t.Errorf("%v", got)
	}
}

// TestUpdate: parts measured one after the other make one line; other releases and machines keep theirs.
func TestUpdate(t *testing.T) {
	text := update("", "v1", "CPU, 2 cores", "2026-11-30", parse(printed))
	text = update(text, "v1", "other", "2026-11-30", parse(printed))
	text = update(text, "v1", "CPU, 2 cores", "2026-12-01", parse(printedDrive))
	text = update(text, "v2", "CPU, 2 cores", "2026-12-02", parse(printedDrive))
	if n := strings.Count(text, "\n| v"); n != 3 {
		t.Fatalf("%d lines:\n%s", n, text)
	}
	if !strings.Contains(text, "| v1 | 2026-12-01 | CPU, 2 cores | 3.81 | 1.34 |  |  |  |  | 2.49 |  |  | 1.03 |  | 2.57 |  |  |") {
		t.Error(text)
	}
	if again := update(text, "v2", "CPU, 2 cores", "2026-12-02", parse(printedDrive)); again != text {
		t.Errorf("the same figures change the table:\n%s", again)
	}
}
