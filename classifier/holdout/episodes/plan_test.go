package episodes_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// classes returns sizes[c] examples of class c; the first value of an example
// is its number.
func classes(sizes ...int) (blas32.General, []string) {
	x := blas32.General{Cols: 2, Stride: 2}
	var y []string
	for c, n := range sizes {
		for range n {
			x.Data = append(x.Data, float32(len(y)), float32(c))
			y = append(y, fmt.Sprintf("c%02d", c))
		}
	}
	x.Rows = len(y)
	return x, y
}

func plan(t *testing.T, x blas32.General, y []string, cfg episodes.Config) *episodes.Plan {
	t.Helper()
	return must.Get(episodes.NewPlan(episodes.Episode{X: x, Y: y}, cfg))(t)
}

// count returns how many of the rows each class has.
func count(y []string, rows []int) map[string]int {
	n := make(map[string]int)
	for _, r := range rows {
		n[y[r]]++
	}
	return n
}

func TestSplitsAreWhatTheySay(t *testing.T) {
	x, y := classes(50, 6, 30, 5, 1, 12, 40, 7, 100, 2)
	size := count(y, dense.Range(0, len(y)))
	cfg := episodes.DefaultConfig()
	p := plan(t, x, y, cfg)
	if len(p.Splits) != cfg.Splits {
		t.Fatalf("%d splits", len(p.Splits))
	}
	played := make(map[string]bool)
	for i, s := range p.Splits {
		all := slices.Sorted(slices.Values(slices.Concat(s.Base, s.Shots, s.BaseTest, s.NovelTest)))
		if len(slices.Compact(slices.Clone(all))) != len(all) || all[0] < 0 || all[len(all)-1] >= len(y) {
			t.Fatalf("split %d has a row twice, or one that is not there", i)
		}
		base, shots, baseTest, novelTest := count(y, s.Base), count(y, s.Shots), count(y, s.BaseTest),
			count(y, s.NovelTest)
		if len(shots) != 3 || len(base)+len(shots) != len(size) { // 40 % of the 7 classes with more than 5
			t.Errorf("split %d: %d classes of shots and %d others", i, len(shots), len(base))
		}
		for c, n := range size {
			if shots[c] > 0 {
				played[c] = true
				if base[c] > 0 || baseTest[c] > 0 || shots[c] != 5 || novelTest[c] != min(n-5, 20) {
					t.Errorf("split %d, class %s of %d plays a new one: %d shots, %d tested, %d in base", i, c, n,
						shots[c], novelTest[c], base[c])
				}
				continue
			}
			want := min(max(1, int(0.8*float64(n)+0.5)), max(1, n-1))
			if base[c] != want || baseTest[c] != min(n-want, 20) || novelTest[c] > 0 {
				t.Errorf("split %d, class %s of %d: %d learned, %d tested", i, c, n, base[c], baseTest[c])
			}
		}
	}
	if len(played) != 7 {
		t.Errorf("in %d splits, %v ever played a new class", cfg.Splits, played)
	}
}

// examples converts rows to the numbers of the examples.
func examples(x blas32.General, p *episodes.Plan) [][]float32 {
	var out [][]float32
	for _, s := range p.Splits {
		for _, rows := range [][]int{s.Base, s.Shots, s.BaseTest, s.NovelTest} {
			var numbers []float32
			for _, r := range rows {
				numbers = append(numbers, dense.Row32(x, r)[0])
			}
			out = append(out, numbers)
		}
	}
	return out
}

func TestOrderOfRowsMakesNoDifference(t *testing.T) {
	x, y := classes(9, 20, 7, 11, 8)
	cfg := episodes.DefaultConfig()
	want := examples(x, plan(t, x, y, cfg))
	order := rand.New(rand.NewPCG(1, 2)).Perm(len(y))
	mixed := make([]string, len(y))
	for i, r := range order {
		mixed[i] = y[r]
	}
	z := dense.Gather32(x, order)
	if got := examples(z, plan(t, z, mixed, cfg)); !reflect.DeepEqual(got, want) {
		t.Error("other examples")
	}
	cfg.Seed++
	if reflect.DeepEqual(examples(x, plan(t, x, y, cfg)), want) {
		t.Error("another seed draws the same")
	}
}

func TestTooLittleData(t *testing.T) {
	for name, c := range map[string]struct {
		sizes []int
		want  episodes.TooLittleError
	}{
		"three classes":        {[]int{50, 50, 50}, episodes.TooLittleError{Classes: 3, Usable: 3, Shots: 5}},
		"five examples each":   {[]int{5, 5, 5, 5, 5, 5}, episodes.TooLittleError{Classes: 6, Usable: 0, Shots: 5}},
		"too few in all but 3": {[]int{5, 6, 6, 6}, episodes.TooLittleError{Classes: 4, Usable: 3, Shots: 5}},
		"one example":          {[]int{1}, episodes.TooLittleError{Classes: 1, Shots: 5}},
	} {
		x, y := classes(c.sizes...)
		_, err := episodes.NewPlan(episodes.Episode{X: x, Y: y}, episodes.DefaultConfig())
		var little *episodes.TooLittleError
		if !errors.As(err, &little) || *little != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	x, y := classes(6, 6, 6, 6)
	for _, s := range plan(t, x, y, episodes.DefaultConfig()).Splits {
		if len(s.BaseTest) == 0 || len(s.NovelTest) == 0 {
			t.Errorf("nothing to test: %+v", s)
		}
	}
}

func TestEveryShareOfNewClassesLeavesBoth(t *testing.T) {
	x, y := classes(6, 6, 6, 6)
	for share, want := range map[float64]int{0.01: 1, 0.5: 2, 0.99: 3} {
		cfg := episodes.DefaultConfig()
		cfg.NovelShare = share
		if got := len(count(y, plan(t, x, y, cfg).Splits[0].Shots)); got != want {
			t.Errorf("share %g: %d classes of shots, want %d", share, got, want)
		}
	}
}

func TestBadInput(t *testing.T) {
	x, y := classes(6, 6, 6, 6)
	if _, err := episodes.NewPlan(episodes.Episode{X: x, Y: y[1:]}, episodes.DefaultConfig()); err == nil {
		t.Error("a row without label was accepted")
	}
	for field, change := range map[string]func(*episodes.Config){
		"splits": func(c *episodes.Config) { c.Splits = 0 }, "shots": func(c *episodes.Config) { c.Shots = -1 },
		"test_per_class": func(c *episodes.Config) { c.TestPerClass = 0 },
		"novel_share":    func(c *episodes.Config) { c.NovelShare = 1 },
		"keep_share":     func(c *episodes.Config) { c.KeepShare = 0 },
	} {
		cfg := episodes.DefaultConfig()
		change(&cfg)
		if err := cfg.Validate(); err == nil || !strings.HasPrefix(err.Error(), field+":") {
			t.Errorf("%s: %v", field, err)
		}
		if _, err := episodes.NewPlan(episodes.Episode{X: x, Y: y}, cfg); err == nil {
			t.Errorf("%s: was accepted", field)
		}
	}
}

// Every example is held out once, but the only one of a class is always learned;
// the order of the rows makes no difference.
func TestFolds(t *testing.T) {
	x, y := classes(1, 2, 5, 7)
	p := episodes.NewFolds(x, y, 5)
	held := make([]int, len(y))
	for _, s := range p.Splits {
		if len(s.Base)+len(s.BaseTest) != len(y) || len(s.BaseTest) == 0 || len(s.Shots)+len(s.NovelTest) > 0 {
			t.Errorf("%+v", s)
		}
		for class, n := range count(y, s.BaseTest) {
			if most := map[string]int{"c01": 1, "c02": 1, "c03": 2}[class]; n > most {
				t.Errorf("%d of %s held out together", n, class)
			}
		}
		for _, r := range s.BaseTest {
			held[r]++
		}
	}
	if len(p.Splits) != 5 || held[0] != 0 || slices.Min(held[1:]) != 1 || slices.Max(held) != 1 {
		t.Errorf("%d splits hold out %v", len(p.Splits), held)
	}
	if n := len(episodes.NewFolds(dense.Rows32(x, 0, 1), y[:1], 5).Splits); n != 0 {
		t.Errorf("%d splits of a single example", n)
	}
	slices.Reverse(y)
	back := dense.Gather32(x, []int{14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0})
	if again := episodes.NewFolds(back, y, 5); !reflect.DeepEqual(examples(back, again), examples(x, p)) {
		t.Error("another order of rows, other folds")
	}
}
