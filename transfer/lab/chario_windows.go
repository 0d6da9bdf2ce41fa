package lab

import "os"

const runtimeWindows = true

func writer(f *os.File) func([]byte) (int, error) { return f.Write }
func reader(f *os.File) func([]byte) (int, error) { return f.Read }
