// Package protocol is what the processes of Coffer say to each other, as plain data: the events of long work, problems and
// exit codes, entries of folders, how an agent is, and the copy jobs it runs. It depends on nothing that can open a
// container, so that a program that only asks (the window) need not carry what answers.
//
// As JSON all field names are stable.
package protocol
