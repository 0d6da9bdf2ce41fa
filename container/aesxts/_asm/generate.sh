#!/bin/sh
# Writes the generated assembly and its declarations into the folder above,
# or into the folder given as the first argument.
set -eu
cd "$(dirname "$0")"
out=$(cd "${1:-..}" && pwd)
program=$(mktemp)
trap 'rm -f "$program"' EXIT
go build -o "$program" .
cd "$out" # relative names, for they end up in the first line of the files
for impl in aesni vaes vaes512; do
	"$program" -impl "$impl" -pkg aesxts -out "${impl}_amd64.s" -stubs "${impl}_amd64.go"
done
