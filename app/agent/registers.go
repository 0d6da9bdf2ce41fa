package agent

import "strings"

// The Go runtime interrupts goroutines by signals, and the kernel saves the registers of the interrupted thread on a
// stack in ordinary memory. Caught in the middle of the cipher they are round keys, of which the first is the key itself,
// and the copy stays until the stack is used again: it was found after every second unlock. An agent goes without
// such signals. Goroutines then give way at calls only, which is soon enough: no loop here runs long without one.
const preemptionOff = "asyncpreemptoff=1"

// withoutPreemption is an environment whose program does not interrupt its goroutines by signals.
func withoutPreemption(environment []string) []string {
	settings := preemptionOff
	var out []string
	for _, variable := range environment {
		if others, ok := strings.CutPrefix(variable, "GODEBUG="); ok {
			if others != "" {
				settings = others + "," + preemptionOff
			}
			continue
		}
		out = append(out, variable)
	}
	return append(out, "GODEBUG="+settings)
}
