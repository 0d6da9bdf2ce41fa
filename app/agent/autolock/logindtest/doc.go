// Package logindtest is a logind for tests: on a bus of its own, with the signals a test wants. It is of use on Linux only.
package logindtest
