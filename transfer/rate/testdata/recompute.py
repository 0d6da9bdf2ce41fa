"""Rates from a trace of writes, by the definition in the command-line specification, in exact arithmetic.

Reads JSON lines {"window": ns, "copied": ns, "total": ns, "files": n, "writes": [[ns, bytes], ...]} and prints, for each,
the figures of a summary as JSON. Shares no code and no method with the recorder: it knows no slots and books nothing.
"""
import json
import sys
from fractions import Fraction

SECOND = 10**9
SLOT = SECOND // 100
LEAST = SECOND // 20


def summary(run):
    window, copied, total, writes = run["window"], run["copied"], run["total"], run["writes"] or []
    payload = sum(n for _, n in writes)
    if total < 8 * window:
        window = max(total // 8 // SLOT * SLOT, LEAST)
    average = Fraction(payload * SECOND, total)
    out = {"windowSeconds": Fraction(window, SECOND), "average": average, "copyAverage": Fraction(payload * SECOND, copied),
           "filesPerSecond": Fraction(run["files"] * SECOND, total), "singleWindow": False}
    whole = total // window
    sums = {}
    for at, n in writes:
        sums[at // window] = sums.get(at // window, 0) + n
    inside = [sums.get(i, 0) for i in range(whole)]
    rates = sorted(Fraction(n * SECOND, window) for n in inside)
    single = whole < 2 or 2 * sum(inside) < payload
    single = single or whole < 8 and not rates[0] <= average <= rates[-1]
    if single:
        out.update(singleWindow=True, series=[], **dict.fromkeys(("maximum", "minimum", "p5", "p50", "p95"), average))
    else:
        out.update(series=[Fraction(n * SECOND, window) for n in inside], minimum=rates[0], maximum=rates[-1])
        for p in (5, 50, 95):  # nearest rank: the smallest with at least p percent at or below it
            out["p%d" % p] = rates[max(-(-p * whole // 100), 1) - 1]
    return out


for line in sys.stdin:
    figures = summary(json.loads(line))
    print(json.dumps({k: [float(x) for x in v] if isinstance(v, list) else v if isinstance(v, bool) else float(v) for k, v in figures.items()}))
