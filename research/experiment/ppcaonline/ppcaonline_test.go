package ppcaonline

import (
	"context"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier/ppcaonline/engine"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/experiment/experimenttest"
)

// small returns a grid that runs fast.
func small(figure int) Config {
	c := DefaultConfig()
	c.Figure, c.D, c.Q, c.Train, c.Test, c.Seeds, c.Every = figure, 6, 2, 120, 40, 3, 20
	c.Beta = []float64{0.1, 10}
	return c
}

// TestData: classes have equal size, their points are drawn from the model and
// nearest to their own centroid; train, validation and test are disjoint.
func TestData(t *testing.T) {
	c := small(2)
	w := must.Get(c.draw(1, 0))(t)
	seen := map[float64]bool{}
	for _, part := range []struct {
		classes [][][]float64
		n       int
	}{{w.train, 30}, {w.validation, 10}, {w.test, 10}} {
		for k, x := range part.classes {
			if len(x) != part.n || len(part.classes) != 4 {
				t.Errorf("class %d has %d examples, want %d", k, len(x), part.n)
			}
			for _, v := range x {
				if seen[v[0]] {
					t.Fatal("an example occurs twice")
				}
				seen[v[0]] = true
			}
		}
	}
	again, err := c.draw(1, 0)
	if err != nil || !reflect.DeepEqual(w, again) {
		t.Error("the same seed draws another world")
	}
	for _, o := range []struct {
		seed uint64
		run  int
	}{{2, 0}, {1, 1}} {
		if other, err := c.draw(o.seed, o.run); err != nil || reflect.DeepEqual(w.train, other.train) ||
			reflect.DeepEqual(w.start, other.start) || slices.Equal(w.order, other.order) {
			t.Errorf("%+v draws the same world (%v)", o, err)
		}
	}
	if mixed := w.sequence(true); len(mixed) != 120 || reflect.DeepEqual(mixed, w.sequence(false)) {
		t.Error("the mixed sequence is not mixed")
	}
	impossible := c
	impossible.Classes, impossible.CentroidNoise = 4, 100
	if _, err := impossible.draw(1, 0); err == nil || !strings.Contains(err.Error(), "centroids") {
		t.Errorf("centroids far from all points: %v", err)
	}
}

// TestFigures: every figure has its rows, tables and pictures; the same seed
// gives the same results.
func TestFigures(t *testing.T) {
	for figure, pictures := range map[int]int{1: 2, 2: 2, 3: 4, 4: 4} {
		c := small(figure)
		o, cells := experimenttest.Run(t, c, experiment.Env{Dir: t.TempDir(), Seed: 1})
		// For each of two γ: none, and five forms of every policy.
		forms, all := 2*(1+5*len(c.policies())), o.Tables[len(o.Tables)-1]
		if len(o.Tables[0].Rows) != forms || len(all.Rows) != 2*(1+10*len(c.policies())) || len(o.Figures) != pictures {
			t.Errorf("figure %d: %d chosen, %d of the grid, %d pictures", figure, len(o.Tables[0].Rows), len(all.Rows),
				len(o.Figures))
		}
		for _, cell := range cells[:len(all.Rows)] {
			end, gain := cell.Values["end"], cell.Values["end_less_none"]
			if len(end) != 3 || math.IsNaN(end[0]) || cell.At["policy"] == engine.None && slices.Max(gain) != 0 {
				t.Errorf("figure %d: %+v", figure, cell)
			}
		}
		if curves := cells[len(all.Rows):]; len(curves) == 0 || len(curves[0].Values["test"]) != 3 {
			t.Errorf("figure %d: no curves", figure)
		}
		if _, again := experimenttest.Run(t, c, experiment.Env{Dir: t.TempDir(), Seed: 1}); !reflect.DeepEqual(again,
			cells) {
			t.Errorf("figure %d: the same seed gives other results", figure)
		}
	}
}

// TestCurveIsThatOfTheModel computes the last point of Figure 2 by hand.
func TestCurveIsThatOfTheModel(t *testing.T) {
	c := small(2)
	w := must.Get(c.draw(0, 0))(t)
	for _, s := range c.grid() {
		m := must.Get(engine.New(s.config(c.Exponent), w.start))(t)
		for _, class := range w.train {
			for _, x := range class {
				must.Do(t, m.Step(x))
			}
			m.EndClass()
		}
		got := must.Get(c.curve(w, s))(t)
		for k := range w.test {
			if row := got.Test[k]; row[len(row)-1] != meanLogDensityNats(m, w.test[k]) || len(row) != len(c.steps()) {
				t.Errorf("%s, class %d: %d points that end at %g", s, k, len(row), row[len(row)-1])
			}
		}
	}
}

// TestInterferenceOfNothing: if every pull is complete, nothing is learned and
// nothing interferes.
func TestInterferenceOfNothing(t *testing.T) {
	c := small(4)
	w := must.Get(c.draw(0, 0))(t)
	got := must.Get(c.interference(w, variant{Policy: engine.Step, RStep: engine.Identity, Gamma: 0.9, Beta: 1e9}))(t)
	for _, row := range got.Test {
		for _, v := range row {
			if v != 0 {
				t.Fatalf("%v", got.Test)
			}
		}
	}
}

// TestMoreSeedsKeepTheOthers: parts of earlier seeds are reused, and every
// difference is taken within one seed.
func TestMoreSeedsKeepTheOthers(t *testing.T) {
	c := small(1)
	s := experiment.Env{Dir: t.TempDir()}
	_, first := experimenttest.Run(t, c, s)
	var finished []any
	s.Note = func(_ string, args ...any) { finished = append(finished, args[1]) }
	c.Seeds = 4
	_, more := experimenttest.Run(t, c, s)
	if !reflect.DeepEqual(finished, []any{"seed4"}) {
		t.Errorf("finished %v", finished)
	}
	for i, a := range first[:len(c.grid())] {
		end := a.Values["end"]
		if !slices.Equal(end, more[i].Values["end"][:3]) {
			t.Errorf("%v: another seed changes the others", a.At)
		}
		none := c.plain(first, a.At["γ"])["end"]
		for k, d := range a.Values["end_less_none"] {
			if want := end[k] - none[k]; math.Abs(d-want) > 1e-12 {
				t.Errorf("%v, seed %d: difference %g, want %g", a.At, k, d, want)
			}
		}
	}
}

// TestSpread: small differences are shown by their power of ten, one seed has no spread.
func TestSpread(t *testing.T) {
	for want, got := range map[string]string{
		"2.000 ± 1.000": level([]float64{1, 2, 3}), "5.000 ± 0.000": level([]float64{5}),
		"+0.500 ± 2.121 (1/2)": gain([]float64{2, -1}), "-3e-04 ± 0e+00 (0/1)": gain([]float64{-3e-4}),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := small(1).trials(ctx, 0, 0); err == nil {
		t.Error("did not stop")
	}
}

func TestValidateNamesTheField(t *testing.T) {
	experimenttest.Names(t, DefaultConfig, map[string]func(*Config){
		"figure": func(c *Config) { c.Figure = 5 }, "d": func(c *Config) { c.D = 1 }, "q": func(c *Config) { c.Q = 16 },
		"classes": func(c *Config) { c.Classes = 27 },
		"train":   func(c *Config) { c.Train = 7 }, "test": func(c *Config) { c.Test = 3 },
		"seeds": func(c *Config) { c.Seeds = 0 }, "every": func(c *Config) { c.Every = 0 },
		"centroid_noise": func(c *Config) { c.CentroidNoise = -1 }, "gamma": func(c *Config) { c.Gamma = []float64{2} },
		"beta":           func(c *Config) { c.Beta = []float64{-1} },
		"gamma and beta": func(c *Config) { c.Beta = nil }, "fisher": func(c *Config) { c.Fisher = []string{"x"} },
		"rstep": func(c *Config) { c.RStep = nil }, "gamma_exponent": func(c *Config) { c.Exponent = 2 },
	})
}
