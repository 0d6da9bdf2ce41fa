package main

import (
	"fmt"
	"strings"
)

// target is what a line has to reach; 0: nothing.
type target struct {
	line         string
	againstPlain float64
	againstPeer  float64
	most         float64 // of a line where less is better
	throughput   bool    // where gocryptfs is under 0.45 of plain, at least twice gocryptfs
}

// targets are all lines in the order of the table.
func targets() []target {
	return []target{
		{line: inA, againstPlain: 0.90, throughput: true},
		{line: outA, againstPlain: 0.90, throughput: true},
		{line: inB, againstPlain: 0.90, throughput: true},
		{line: outB, againstPlain: 0.80, throughput: true},
		{line: seqWrite, againstPlain: 0.85, throughput: true},
		{line: seqCold, againstPlain: 0.85, throughput: true},
		{line: seqHot, againstPlain: 0.90, throughput: true},
		{line: randCold1, againstPlain: 0.40, throughput: true},
		{line: randCold4, throughput: true},
		{line: randHot1, againstPlain: 0.90, throughput: true},
		{line: randHot4, againstPlain: 0.90, throughput: true},
		{line: randWrite1, againstPlain: 0.60, throughput: true},
		{line: randWrite4, againstPlain: 0.45, throughput: true},
		{line: createMany, againstPeer: 1.8},
		{line: listCold, againstPeer: 5},
		{line: listHot},
		{line: statCold},
		{line: statHot},
		{line: deleteMany, againstPeer: 3},
		{line: cpuIn, most: 1.6},
		{line: cpuOut, most: 1.6},
	}
}

// peerIsSlow is the share of plain under which gocryptfs must be beaten by the factor 2.
const peerIsSlow, slowPeerFactor = 0.45, 2

// result is one line of the table.
type result struct {
	target
	unit                 string
	plain, coffer, peer  float64 // medians of rates
	ratios, peerRatios   []float64
	peerShare            float64 // median of gocryptfs / plain
	needPlain, needPeer  float64
	metPlain, metPeer    bool
	measured, lessIsGood bool
}

func evaluate(samples []Sample, t target) result {
	by := series(samples, t.line)
	r := result{target: t, needPlain: t.againstPlain, needPeer: t.againstPeer, lessIsGood: t.most > 0}
	for _, s := range samples {
		if s.Line == t.line {
			r.unit, r.measured = s.Unit, true
		}
	}
	r.plain, r.coffer, r.peer = quantile(rates(by, plainName), 0.5), quantile(rates(by, cofferName), 0.5), quantile(rates(by, gocryptfsName), 0.5)
	r.ratios, r.peerRatios = ratios(by, cofferName, plainName), ratios(by, cofferName, gocryptfsName)
	r.peerShare = quantile(ratios(by, gocryptfsName, plainName), 0.5)
	if t.throughput && r.peerShare > 0 && r.peerShare < peerIsSlow {
		r.needPeer = max(r.needPeer, slowPeerFactor)
	}
	r.metPlain = r.needPlain == 0 || quantile(r.ratios, 0.5) >= r.needPlain
	r.metPeer = r.needPeer == 0 || quantile(r.peerRatios, 0.5) >= r.needPeer
	if r.lessIsGood {
		r.metPlain, r.metPeer = r.coffer <= t.most, true
	}
	return r
}

// table is all that was measured, a line each.
func table(samples []Sample) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-38s %9s %9s %9s         %-28s %-18s %s\n", "medians", plainName, cofferName, gocryptfsName,
		"coffer / plain (quartiles, n)", "coffer / gocryptfs", "verdict")
	for _, t := range targets() {
		if r := evaluate(samples, t); r.measured {
			b.WriteString(r.row() + "\n")
		}
	}
	disturbed := 0
	for _, s := range samples {
		if s.Disturbed {
			disturbed++
		}
	}
	if disturbed > 0 {
		fmt.Fprintf(&b, "%d samples of %d are not counted: somebody else dropped the caches meanwhile\n", disturbed, len(samples))
	}
	return b.String()
}

func (r result) row() string {
	number := func(v float64) string {
		switch {
		case v == 0:
			return "-"
		case r.lessIsGood:
			return fmt.Sprintf("%.2f", v)
		}
		return fmt.Sprintf("%.0f", v)
	}
	plainRatio, peerRatio := "", ""
	if len(r.ratios) > 0 && !r.lessIsGood {
		plainRatio = fmt.Sprintf("%.2f (%.2f to %.2f, %d)", quantile(r.ratios, 0.5), quantile(r.ratios, 0.25), quantile(r.ratios, 0.75), len(r.ratios))
	}
	if len(r.peerRatios) > 0 && !r.lessIsGood {
		peerRatio = fmt.Sprintf("%.2f (%.2f to %.2f)", quantile(r.peerRatios, 0.5), quantile(r.peerRatios, 0.25), quantile(r.peerRatios, 0.75))
	}
	return strings.TrimRight(fmt.Sprintf("%-38s %9s %9s %9s %-7s %-28s %-18s  %s", r.line, number(r.plain), number(r.coffer), number(r.peer), r.unit,
		plainRatio, peerRatio, r.verdict()), " ")
}

// verdict says what was to be reached and whether it was.
func (r result) verdict() string {
	var parts []string
	add := func(met bool, format string, values ...any) {
		word := "met"
		if !met {
			word = "SHORT"
		}
		parts = append(parts, word+": "+fmt.Sprintf(format, values...))
	}
	if r.coffer == 0 {
		return ""
	}
	if r.lessIsGood {
		add(r.metPlain, "at most %.1f", r.most)
		return parts[0]
	}
	if r.needPlain > 0 && len(r.ratios) > 0 {
		add(r.metPlain, "%.2f of plain", r.needPlain)
	}
	if r.needPeer > 0 && len(r.peerRatios) > 0 {
		add(r.metPeer, "%.1f of gocryptfs (itself %.2f of plain)", r.needPeer, r.peerShare)
	}
	return strings.Join(parts, "; ")
}
