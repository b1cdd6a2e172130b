package mutation

import (
	"cmp"
	"math/rand/v2"
	"runtime/metrics"
	"slices"
	"sync"
	"testing"
	"time"
)

// Bounds of what a damaged file may cost. The files of the tests have at most some hundred
// kilobytes; .github/SECURITY.md promises the same of any file of 1 MB.
const (
	mostTime  = 10 * time.Second
	mostBytes = 1 << 30 // allocated, garbage included
)

// shownWorst is the number of files that are tried once more by themselves, and reported.
const shownWorst = 10

// A cost is what a file took.
type cost struct {
	file  int
	time  time.Duration
	bytes uint64
}

// worst collects the costliest files. While several are tried at once, the bytes are those
// of all of them, so that no costly one is missed.
type worst struct {
	mu           sync.Mutex
	slow, greedy []cost
}

// measured calls try and notes what it took.
func (w *worst) measured(i int, try func() error) error {
	c, err := measure(i, try)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.slow = keep(append(w.slow, c), func(a, b cost) int { return cmp.Compare(b.time, a.time) })
	w.greedy = keep(append(w.greedy, c), func(a, b cost) int { return cmp.Compare(b.bytes, a.bytes) })
	return err
}

func keep(costs []cost, order func(a, b cost) int) []cost {
	slices.SortFunc(costs, order)
	return costs[:min(len(costs), shownWorst)]
}

func measure(i int, try func() error) (cost, error) {
	before, begun := allocated(), time.Now()
	err := try()
	return cost{i, time.Since(begun), allocated() - before}, err
}

// allocated returns the bytes that the process has allocated so far.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// report tries the costliest files once more, one after the other, and fails the test if
// one of them takes too much.
func (w *worst) report(t *testing.T, try func(i int, rng *rand.Rand) error) {
	t.Helper()
	var alone []cost
	for _, c := range slices.Concat(w.slow, w.greedy) {
		if slices.ContainsFunc(alone, func(other cost) bool { return other.file == c.file }) {
			continue
		}
		again, _ := measure(c.file, func() error { return guarded(c.file, try) }) // its error has been reported
		alone = append(alone, again)
		if again.time > mostTime || again.bytes > mostBytes {
			t.Errorf("file %d takes %v and allocates %d MiB", again.file, again.time, again.bytes>>20)
		}
	}
	for _, c := range keep(alone, func(a, b cost) int { return cmp.Compare(b.time, a.time) }) {
		t.Logf("file %d: %v, %.1f MiB", c.file, c.time.Round(time.Microsecond), float64(c.bytes)/(1<<20))
	}
}
