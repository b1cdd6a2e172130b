package ppcaonline

import (
	"context"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier/ppcaonline/engine"
	"github.com/seed-90d10d51/pipeline/research/experiment"
)

// small returns a grid that runs fast.
func small(figure int) Config {
	c := DefaultConfig()
	c.Figure, c.D, c.Q, c.Train, c.Test, c.Seeds, c.Every = figure, 6, 2, 120, 40, 3, 20
	c.Beta = []float64{0.1, 10}
	return c
}

func run(t *testing.T, c Config, seed uint64) experiment.Outcome {
	t.Helper()
	o, err := Run(context.Background(), c, experiment.Env{Dir: t.TempDir(), Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestData: classes have equal size, their points are drawn from the model and
// nearest to their own centroid; train, validation and test are disjoint.
func TestData(t *testing.T) {
	c := small(2)
	w, err := c.draw(1, 0)
	if err != nil {
		t.Fatal(err)
	}
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
		o := run(t, c, 1)
		r := o.Results.(results)
		// For each of two γ: none, and five forms of every policy.
		forms := 2 * (1 + 5*len(c.policies()))
		if len(r.Chosen) != forms || len(r.Grid) != 2*(1+10*len(c.policies())) || len(o.Figures) != pictures ||
			len(r.Curves) < 2 {
			t.Errorf("figure %d: %d chosen, %d of the grid, %d pictures", figure, len(r.Chosen), len(r.Grid),
				len(o.Figures))
		}
		for _, row := range r.Chosen {
			if len(row.End.Seeds) != 3 || math.IsNaN(row.End.Mean) || row.Policy == engine.None &&
				row.EndGain.Mean != 0 {
				t.Errorf("figure %d: %+v", figure, row)
			}
		}
		for _, table := range o.Tables {
			for _, row := range table.Rows {
				if len(row) != len(table.Header) {
					t.Errorf("figure %d, table %s: a row of %d cells under %d", figure, table.Name, len(row),
						len(table.Header))
				}
			}
		}
		if again := run(t, c, 1); !reflect.DeepEqual(again.Results, o.Results) {
			t.Errorf("figure %d: the same seed gives other results", figure)
		}
	}
}

// TestCurveIsThatOfTheModel computes the last point of Figure 2 by hand.
func TestCurveIsThatOfTheModel(t *testing.T) {
	c := small(2)
	w, err := c.draw(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range c.grid() {
		m, err := engine.New(s.config(c.Exponent), w.start)
		if err != nil {
			t.Fatal(err)
		}
		for _, class := range w.train {
			for _, x := range class {
				if err := m.Step(x); err != nil {
					t.Fatal(err)
				}
			}
			m.EndClass()
		}
		got, err := c.curve(w, s)
		if err != nil {
			t.Fatal(err)
		}
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
	w, err := c.draw(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.interference(w, variant{Policy: engine.Step, RStep: engine.Identity, Gamma: 0.9, Beta: 1e9})
	if err != nil {
		t.Fatal(err)
	}
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
	first, err := Run(context.Background(), c, s)
	if err != nil {
		t.Fatal(err)
	}
	var finished []any
	s.Note = func(_ string, args ...any) { finished = append(finished, args[1]) }
	c.Seeds = 4
	more, err := Run(context.Background(), c, s)
	if err != nil || !reflect.DeepEqual(finished, []any{"seed4"}) {
		t.Errorf("finished %v, %v", finished, err)
	}
	a, b := first.Results.(results).Grid, more.Results.(results).Grid
	for i := range a {
		if !slices.Equal(a[i].End.Seeds, b[i].End.Seeds[:3]) {
			t.Errorf("%s: another seed changes the others", a[i])
		}
		for k, d := range a[i].EndGain.Seeds {
			if want := a[i].End.Seeds[k] - a[c.plain(a[i].Gamma)].End.Seeds[k]; math.Abs(d-want) > 1e-12 {
				t.Errorf("%s, seed %d: difference %g, want %g", a[i], k, d, want)
			}
		}
	}
}

func TestSpread(t *testing.T) {
	s := spread([]float64{1, 2, 3})
	if s.Mean != 2 || math.Abs(s.SD-1) > 1e-15 || s.Above != 3 || s.sign() != 0 { // 2 < 4.303·1/√3
		t.Errorf("%+v", s)
	}
	if s := spread([]float64{-2, -2.1, -1.9}); s.sign() != -1 || s.Above != 0 {
		t.Errorf("%+v", s)
	}
	if s := spread([]float64{5}); s.sign() != 0 || s.SD != 0 {
		t.Errorf("%+v", s)
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
	if err := DefaultConfig().Validate(); err != nil {
		t.Error(err)
	}
	for field, change := range map[string]func(*Config){
		"figure": func(c *Config) { c.Figure = 5 }, "d": func(c *Config) { c.D = 1 }, "q": func(c *Config) { c.Q = 16 },
		"classes": func(c *Config) { c.Classes = 27 },
		"train":   func(c *Config) { c.Train = 7 }, "test": func(c *Config) { c.Test = 3 },
		"seeds": func(c *Config) { c.Seeds = 0 }, "every": func(c *Config) { c.Every = 0 },
		"centroid_noise": func(c *Config) { c.CentroidNoise = -1 }, "gamma": func(c *Config) { c.Gamma = []float64{2} },
		"beta":           func(c *Config) { c.Beta = []float64{-1} },
		"gamma and beta": func(c *Config) { c.Beta = nil }, "fisher": func(c *Config) { c.Fisher = []string{"x"} },
		"rstep": func(c *Config) { c.RStep = nil }, "gamma_exponent": func(c *Config) { c.Exponent = 2 },
	} {
		c := DefaultConfig()
		change(&c)
		if err := c.Validate(); err == nil || !strings.HasPrefix(err.Error(), field+":") {
			t.Errorf("%s: %v", field, err)
		}
	}
}
