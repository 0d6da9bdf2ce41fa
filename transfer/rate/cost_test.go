package rate

import (
	"slices"
	"sync"
	"testing"
	"time"
)

// Blocks as the copy engine hands them on, and the workers that do so at once.
const (
	costBlock   = 1 << 20
	costWorkers = 4
	costBatch   = 32 // blocks of each worker in one batch
)

// BenchmarkCopyInMemory copies blocks in memory with several workers, with and without booking each, by turns. It reports
// the speed, and the time that booking adds to a block as a part of the time that a block takes at 5 GB/s.
func BenchmarkCopyInMemory(b *testing.B) {
	r, err := New(0, nil)
	if err != nil {
		b.Fatal(err)
	}
	r.Start()
	var buffers [costWorkers][2][]byte
	for w := range buffers {
		for k := range buffers[w] {
			buffers[w][k] = make([]byte, costBatch*costBlock) // larger than caches
			for i := range buffers[w][k] {
				buffers[w][k][i] = byte(i)
			}
		}
	}
	batch := func(book bool) time.Duration {
		start := time.Now()
		var all sync.WaitGroup
		for w := range buffers {
			all.Go(func() {
				for at := 0; at < costBatch*costBlock; at += costBlock {
					copy(buffers[w][0][at:at+costBlock], buffers[w][1][at:])
					if book {
						r.Book(costBlock)
					}
				}
			})
		}
		all.Wait()
		if book {
			r.Current() // a progress line asks for it
		}
		return time.Since(start)
	}
	var bare, booked []time.Duration
	for i := 0; b.Loop(); i++ {
		if i%2 == 0 {
			bare, booked = append(bare, batch(false)), append(booked, batch(true))
		} else {
			booked, bare = append(booked, batch(true)), append(bare, batch(false))
		}
	}
	// Quarters, not medians: others on the machine make runs longer, never shorter.
	quarter := func(d []time.Duration) float64 { slices.Sort(d); return float64(d[len(d)/4]) / costWorkers / costBatch }
	b.ReportMetric(costBlock/quarter(bare), "GB/s")
	b.ReportMetric(100*(quarter(booked)-quarter(bare))/(costBlock/5.0), "%-at-5GB/s")
}

// BenchmarkBookContended books from several workers at once and does nothing else. At 5 GB/s there are 4768 blocks of 1 MiB a
// second: it reports which part of one core booking them takes.
func BenchmarkBookContended(b *testing.B) {
	r, _ := New(0, nil)
	r.Start()
	b.SetParallelism(costWorkers)
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			r.Book(costBlock)
		}
	})
	perBlock := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
	b.ReportMetric(100*perBlock/(costBlock/5.0), "%-at-5GB/s")
}
