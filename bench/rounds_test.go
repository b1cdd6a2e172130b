package bench_test

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// rounds is how often each side is measured in one operation of a benchmark.
const rounds = 5

// interleave measures all sides in turn, a few rounds, beginning with another
// one each time: whatever else the machine does then meets them alike.
func interleave(sides ...func() time.Duration) (times [][]time.Duration) {
	times = make([][]time.Duration, len(sides))
	for round := range rounds {
		for i := range sides {
			side := (round + i) % len(sides)
			times[side] = append(times[side], sides[side]())
		}
	}
	return times
}

// A tally gathers one number per round.
type tally []float64

// median is of all rounds so far.
func (t tally) median() float64 {
	sorted := slices.Sorted(slices.Values(t))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// report states median, smallest and largest of a ratio.
func (t tally) report(b *testing.B, unit string) {
	b.ReportMetric(t.median(), unit)
	b.ReportMetric(slices.Min(t), unit+"_min")
	b.ReportMetric(slices.Max(t), unit+"_max")
}

// milliseconds per photo.
func milliseconds(d time.Duration, photos int) float64 {
	return d.Seconds() * 1e3 / float64(photos)
}

// onAllCores calls work for 0…n−1 with one goroutine per core and returns the
// time until the last is done.
func onAllCores(b *testing.B, n int, work func(worker, i int) error) time.Duration {
	b.Helper()
	var next atomic.Int64
	var group sync.WaitGroup
	begin := time.Now()
	for worker := range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if err := work(worker, i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	return time.Since(begin)
}
