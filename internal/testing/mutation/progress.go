package mutation

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
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
	File  int           `json:"file"`
	Time  time.Duration `json:"ns"`
	Bytes uint64        `json:"bytes"`
}

type failure struct {
	File  int    `json:"file"`
	Error string `json:"error"`
}

// progress is how far a test came and the costliest files so far. While several are tried at once, the
// bytes are those of all of them, so that no costly one is missed.
type progress struct {
	mu     sync.Mutex
	path   string // "" if it is not kept
	Tried  int    `json:"tried"`
	Slow   []cost `json:"slow"`
	Greedy []cost `json:"greedy"`
	// Alone are the costliest, each measured by itself at the end.
	Alone  []cost    `json:"alone"`
	Failed []failure `json:"failed"`
}

// openProgress reads what an earlier run of the test left in dir, if that is not "".
func openProgress(t *testing.T, dir string) *progress {
	t.Helper()
	p := &progress{}
	if dir == "" {
		return p
	}
	p.path = filepath.Join(dir, strings.NewReplacer("/", "-", ".", "").Replace(t.Name())+".json")
	data, err := regularfile.Read(p.path, 1<<20)
	if err == nil {
		err = json.Unmarshal(data, p)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("%s: %v", p.path, err)
	}
	return p
}

func (p *progress) save(t *testing.T) {
	t.Helper()
	if p.path == "" {
		return
	}
	data, err := json.MarshalIndent(p, "", " ")
	if err == nil {
		err = atomicfile.WriteFile(p.path, data)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// lateness returns a function that reports whether nine tenths of the time until the test's deadline have
// passed. Without a folder to go on from, a test is never late.
func (p *progress) lateness(deadline time.Time, limited bool) func() bool {
	if p.path == "" || !limited {
		return func() bool { return false }
	}
	end := deadline.Add(-time.Until(deadline) / 10)
	return func() bool { return time.Now().After(end) }
}

// measured calls try and notes what it took and whether it failed.
func (p *progress) measured(i int, try func() error) {
	c, err := measure(i, try)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Slow = keep(append(p.Slow, c), slower)
	p.Greedy = keep(append(p.Greedy, c), func(a, b cost) int { return cmp.Compare(b.Bytes, a.Bytes) })
	if err != nil {
		p.Failed = append(p.Failed, failure{i, err.Error()})
	}
}

func slower(a, b cost) int { return cmp.Compare(b.Time, a.Time) }

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
func (p *progress) report(t *testing.T, try func(i int, rng *rand.Rand) error) {
	t.Helper()
	p.Alone = nil
	for _, c := range slices.Concat(p.Slow, p.Greedy) {
		if slices.ContainsFunc(p.Alone, func(other cost) bool { return other.File == c.File }) {
			continue
		}
		again, _ := measure(c.File, func() error { return guarded(c.File, try) }) // its error has been reported
		p.Alone = append(p.Alone, again)
		if again.Time > mostTime || again.Bytes > mostBytes {
			t.Errorf("file %d takes %v and allocates %d MiB", again.File, again.Time, again.Bytes>>20)
		}
	}
	p.Alone = keep(p.Alone, slower)
	for _, c := range p.Alone {
		t.Logf("file %d: %v, %.1f MiB", c.File, c.Time.Round(time.Microsecond), float64(c.Bytes)/(1<<20))
	}
}

// busy is how much longer than mostTime a file of Bounded may take: other tests run at the same time.
const busy = 6

// Bounded fails a test in which reading one file, made for that, takes more than a damaged one may.
func Bounded(t *testing.T, read func()) {
	t.Helper()
	c, _ := measure(0, func() error { read(); return nil })
	t.Logf("%v, %.1f MiB", c.Time.Round(time.Millisecond), float64(c.Bytes)/(1<<20))
	if c.Time > busy*mostTime || c.Bytes > mostBytes {
		t.Errorf("it takes %v and allocates %d MiB", c.Time, c.Bytes>>20)
	}
}
