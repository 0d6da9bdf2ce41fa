"""Compares a transfer record with a trace of the writes that the transfer made.

Usage: tracefit.py TRACE RECORD. TRACE was written by strace -f -ttt -T -y; payload is what is written to files whose names
contain ".coffer-part-". Bytes must agree exactly. Windows of the record are compared with windows summed from the trace.
The trace does not tell the instant at which the clock of the record was started, so that every instant from 80 ms before
the first write is tried, and the best counts. Prints the differences as JSON.
"""
import json
import re
import sys

CALL = re.compile(r"^(\d+) +([\d.]+) (?:pwrite64|write|pwritev|writev)\(\d+<([^>]*)>.*?(?:= (\d+) <([\d.]+)>|<unfinished \.\.\.>)$")
RESUMED = re.compile(r"^(\d+) +([\d.]+) <\.\.\. (?:pwrite64|write|pwritev|writev) resumed>.*= (\d+) <")


def writes(trace):
    """Yields (second of completion, bytes) of every payload write."""
    pending = set()
    with open(trace, errors="replace") as lines:
        for line in lines:
            if call := CALL.match(line.rstrip("\n")):
                thread, at, path, count, took = call.groups()
                if ".coffer-part-" not in path:
                    continue
                if count is None:
                    pending.add(thread)
                else:
                    yield float(at) + float(took), int(count)
            elif (end := RESUMED.match(line)) and end.group(1) in pending:
                pending.discard(end.group(1))
                yield float(end.group(2)), int(end.group(3))


def windows(done, start, length, count):
    sums = [0] * count
    for at, n in done:
        i = int((at - start) // length)
        if 0 <= i < count:
            sums[i] += n
    return [n / length for n in sums]


with open(sys.argv[2]) as f:
    record = json.load(f)[0]
done = sorted(writes(sys.argv[1]))
rates = record["rates"]
series, length = rates["series"], rates["windowSeconds"]
seconds = record["seconds"]["copy"] + record["seconds"]["sync"]
best = None
for step in range(160):
    mine = windows(done, done[0][0] - step / 2000, length, len(series))
    error = sum(abs(a - b) for a, b in zip(mine, series)) / max(sum(series), 1)
    if best is None or error < best[0]:
        best = error, mine
print(json.dumps({
    "tracedBytes": sum(n for _, n in done), "recordedBytes": record["bytes"], "windows": len(series),
    "seriesError": best[0], "traceMaximum": max(best[1]), "traceMinimum": min(best[1]), "maximum": rates["maximum"], "minimum": rates["minimum"],
    "averageTimesSeconds": rates["average"] * seconds, "seconds": seconds, "writeSeconds": done[-1][0] - done[0][0],
    "stalled": sum(1 for v in series if v == 0),
}))
