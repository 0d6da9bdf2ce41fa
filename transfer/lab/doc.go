// Package lab makes the experiments of the transfer lab: it measures what
// encryption costs on this machine and returns a report.Experiment, with the
// method beside the figures and what others published beside both.
package lab
