package mutation

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestALongRunGoesOn: what an earlier run tried is not tried again, but for those that cost most.
func TestALongRunGoesOn(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(envState, dir)
	var mu sync.Mutex
	var tried []int
	run := func(count string) {
		t.Setenv(envCount, count)
		tried = nil
		Each(t, 0, func(i int, rng *rand.Rand) error {
			mu.Lock()
			defer mu.Unlock()
			tried = append(tried, i)
			return nil
		})
	}
	run("30")
	if slices.Sort(tried); len(slices.Compact(tried)) != 30 {
		t.Fatalf("tried %v", tried)
	}
	run("40")
	fresh := slices.DeleteFunc(tried, func(i int) bool { return i < 30 })
	if slices.Sort(fresh); len(slices.Compact(fresh)) != 10 {
		t.Errorf("the second run tried %v", fresh)
	}
	kept := openProgress(t, dir)
	if kept.Tried != 40 || len(kept.Slow) != shownWorst || len(kept.Alone) != shownWorst {
		t.Errorf("kept %+v", kept)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 || filepath.Base(files[0].Name()) != "TestALongRunGoesOn.json" {
		t.Errorf("%v, %v", files, err)
	}
}

func TestOneFileAlone(t *testing.T) {
	t.Setenv(envOne, "17")
	var tried []int
	Each(t, 5, func(i int, _ *rand.Rand) error {
		tried = append(tried, i)
		return nil
	})
	if !slices.Equal(tried, []int{17}) {
		t.Errorf("tried %v", tried)
	}
}

func TestTimeEndsWhatCanGoOn(t *testing.T) {
	kept, now := &progress{path: "x"}, time.Now()
	for _, c := range []struct {
		of       *progress
		deadline time.Time
		limited  bool
		late     bool
	}{
		{kept, now.Add(-time.Hour), true, true},
		{kept, now.Add(time.Hour), true, false},
		{kept, time.Time{}, false, false},
		{&progress{}, now.Add(-time.Hour), true, false},
	} {
		if late := c.of.lateness(c.deadline, c.limited); late() != c.late {
			t.Errorf("%+v: late is %t", c, !c.late)
		}
	}
}

func TestFailuresAreKept(t *testing.T) {
	p := &progress{path: filepath.Join(t.TempDir(), "TestFailuresAreKept.json")}
	p.measured(7, func() error { return errors.New("no picture") })
	p.save(t)
	again := openProgress(t, filepath.Dir(p.path))
	if len(again.Failed) != 1 || again.Failed[0].File != 7 || !strings.Contains(again.Failed[0].Error, "no picture") {
		t.Errorf("%+v", again.Failed)
	}
}
