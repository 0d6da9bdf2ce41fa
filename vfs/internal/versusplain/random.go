package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Amounts of the random lines, all jobs together.
const (
	randomColdBytes  = 64 << 20 // an eighth of the file, so that what was read is seldom met again
	randomHotBytes   = 128 << 20
	randomWriteBytes = 96 << 20
)

func (b *bench) randomLines() []line {
	reads := func(title string, jobs int, cold bool) line {
		amount := b.bytes(randomColdBytes)
		if !cold {
			amount = b.bytes(randomHotBytes)
		}
		l := line{title: title, unit: ops, cold: cold, prepare: b.needStream,
			do: func(ctx context.Context, c contender) (float64, error) {
				return b.fio(ctx, c, "randread", jobs, amount)
			}}
		if !cold {
			l.prepare = b.warmStream
		}
		return l
	}
	writes := func(title string, jobs int) line {
		return line{title: title, unit: ops, prepare: b.warmStream,
			do: func(ctx context.Context, c contender) (float64, error) {
				return b.fio(ctx, c, "randwrite", jobs, b.bytes(randomWriteBytes))
			}}
	}
	return []line{
		reads(randCold1, 1, true), reads(randCold4, 4, true), reads(randHot1, 1, false), reads(randHot4, 4, false),
		writes(randWrite1, 1), writes(randWrite4, 4),
	}
}

// fio runs jobs on the one file, amountBytes together, and returns operations per second. What fio itself needs to start does not count; after
// writing, the time to make it durable does.
func (b *bench) fio(ctx context.Context, c contender, mode string, jobs int, amountBytes int64) (float64, error) {
	b.seeds++
	args := []string{"--name=random", "--filename=" + streamFile(c), "--rw=" + mode, "--bs=4k", "--ioengine=psync",
		fmt.Sprintf("--size=%d", b.bytes(streamBytes)), "--thread", fmt.Sprintf("--numjobs=%d", jobs), "--group_reporting",
		"--invalidate=0", "--fadvise_hint=0", "--norandommap", fmt.Sprintf("--randseed=%d", b.seeds), "--output-format=json",
		"--allow_file_create=0", fmt.Sprintf("--io_size=%d", max(4096, amountBytes/int64(jobs)))}
	report, err := output(ctx, nil, "", "fio", args...)
	if err != nil {
		return 0, err
	}
	started := time.Now()
	if mode == "randwrite" {
		if err := b.durable(ctx, c); err != nil {
			return 0, err
		}
	}
	return fioRate(report, time.Since(started))
}

// fioRate is operations over the longest job's time and the sync after it.
func fioRate(report []byte, sync time.Duration) (float64, error) {
	type direction struct {
		TotalIOs float64 `json:"total_ios"`
		Runtime  float64 `json:"runtime"` // ms
	}
	var parsed struct {
		Jobs []struct {
			Error int       `json:"error"`
			Read  direction `json:"read"`
			Write direction `json:"write"`
		} `json:"jobs"`
	}
	if err := json.Unmarshal(report, &parsed); err != nil {
		return 0, fmt.Errorf("report of fio: %w", err)
	}
	if len(parsed.Jobs) != 1 || parsed.Jobs[0].Error != 0 {
		return 0, fmt.Errorf("fio reports %d groups, or an error in the first", len(parsed.Jobs))
	}
	done := parsed.Jobs[0].Read.TotalIOs + parsed.Jobs[0].Write.TotalIOs
	seconds := (parsed.Jobs[0].Read.Runtime+parsed.Jobs[0].Write.Runtime)/1e3 + sync.Seconds()
	if done == 0 || seconds == 0 {
		return 0, fmt.Errorf("fio did %.0f operations in %.3f s", done, seconds)
	}
	return done / seconds, nil
}
