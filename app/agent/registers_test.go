package agent

import (
	"slices"
	"testing"
)

func TestEnvironmentWithoutPreemption(t *testing.T) {
	for _, c := range []struct{ given, want []string }{
		{nil, []string{"GODEBUG=asyncpreemptoff=1"}},
		{[]string{"A=b", "GODEBUG=", "C="}, []string{"A=b", "C=", "GODEBUG=asyncpreemptoff=1"}},
		{[]string{"GODEBUG=gctrace=1", "A=b"}, []string{"A=b", "GODEBUG=gctrace=1,asyncpreemptoff=1"}},
	} {
		if got := withoutPreemption(c.given); !slices.Equal(got, c.want) {
			t.Errorf("%q gives %q, want %q", c.given, got, c.want)
		}
	}
}
