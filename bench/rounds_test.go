package bench_test

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// rounds is how often each side is measured per benchmark operation.
const rounds = 5

// interleave measures all sides in turn for a few rounds, starting with a
// different side each time, so that other load on the machine affects all sides
// equally.
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

// A tally collects one number per round.
type tally []float64

// median returns the median of all rounds so far.
func (t tally) median() float64 {
	sorted := slices.Sorted(slices.Values(t))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// report reports the median, minimum and maximum of a ratio.
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
// time until all are done.
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
