package pldaplus

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// session returns n examples of classes first … last−1.
func session(first, last, n, d int, seed uint64) episodes.Episode {
	s := episodes.Episode{X: blas32.General{Cols: d, Stride: d}}
	for c := first; c < last; c++ {
		centre, rng := rand.New(rand.NewPCG(9, uint64(c))), rand.New(rand.NewPCG(seed, uint64(c)))
		mean := make([]float64, d)
		for j := range mean {
			mean[j] = centre.NormFloat64()
		}
		for range n {
			for j := range d {
				s.X.Data = append(s.X.Data, float32(mean[j]+rng.NormFloat64()*float64(1+(j+c)%3)/2))
			}
			s.Y = append(s.Y, fmt.Sprintf("c%02d", c))
		}
	}
	s.X.Rows = len(s.Y)
	return s
}

// measured returns the result of a head on held-out examples.
func measured(t *testing.T, h *Head, tests ...episodes.Episode) episodes.Result {
	t.Helper()
	var r episodes.Result
	for _, s := range tests {
		first := 0
		err := classifier.Batches(h, s.X, func(at int, dst blas64.General) error {
			for i := range dst.Rows {
				row := dst.Data[i*dst.Stride : i*dst.Stride+dst.Cols]
				for c, name := range h.Classes() {
					if name == s.Y[at+i] {
						r.NLL -= row[c] / float64(len(s.Y)*len(tests))
						if floats.MaxIdx(row) == c {
							r.Accuracy += 1 / float64(len(s.Y)*len(tests))
						}
					}
				}
				first++
			}
			return nil
		})
		if err != nil || first != len(s.Y) {
			t.Fatal(first, err)
		}
	}
	return r
}

// TestGains: a small gain counts if all splits agree on it, a large one of a single
// split does not.
func TestGains(t *testing.T) {
	for _, tt := range []struct {
		gains []float64
		want  bool
	}{
		{[]float64{0.004, 0.005, 0.006}, true},
		{[]float64{0.09, -0.02, -0.01}, false},
		{[]float64{-0.02, -0.02, -0.021}, false},
		{[]float64{0, 0, 0}, false},
	} {
		var results [][]episodes.Result
		for _, g := range tt.gains {
			results = append(results, []episodes.Result{{Accuracy: 0.9}, {Accuracy: 0.9 + g}})
		}
		if got := gains(results, 1, 0); got != tt.want {
			t.Errorf("%v: %v", tt.gains, got)
		}
	}
}

// TestTrialEqualsHeads checks that the reduced results shared among candidates
// give the accuracy and the likelihood of a head with that setting.
func TestTrialEqualsHeads(t *testing.T) {
	const d = 6
	draw := episodes.Draw{Base: session(0, 5, 30, d, 1), Shots: session(5, 9, 5, d, 2),
		BaseTest: session(0, 5, 20, d, 3), NovelTest: session(5, 9, 15, d, 4)}
	cfg := DefaultPLDAPlus()
	got := must.Get(chooser{Config: cfg, backend: linalg.Backend{}}.try(context.Background(), draw, true))(t)
	fixed := cfg
	fixed.Calibrate, fixed.Nu = false, 100
	h := must.Get(New(PLDAPlus, fixed))(t)
	for _, s := range []episodes.Episode{draw.Base, draw.Shots} {
		must.Do(t, h.Learn(context.Background(), s.X, s.Y))
	}
	for k := 0; k < len(got.candidates); k += 7 {
		for _, b := range []float64{0, 0.7, -2} {
			s := got.candidates[k]
			s.Later = b
			want := measured(t, h.With(s, draw.Base.X, draw.Base.Y), draw.BaseTest, draw.NovelTest)
			r := got.result(k, b)
			if math.Abs(r.Accuracy-want.Accuracy) > 1e-9 || math.Abs(r.NLL-want.NLL) > 1e-4*(1+want.NLL) {
				t.Errorf("%+v: %+v, the head reaches %+v", s, r, want)
			}
		}
	}
}

// TestDecideKeepsThePlainForm unless the gain is large and certain.
func TestDecideKeepsThePlainForm(t *testing.T) {
	cfg := DefaultPLDAPlus()
	cfg.Nu = 100
	right, wrong := outcome{gap: -1, baseRight: true}, outcome{gap: -1}
	later, missed := outcome{gap: 1, laterIsIt: true}, outcome{gap: 1}
	trials := make([]*trial, 3)
	for i := range trials {
		trials[i] = &trial{candidates: []Setting{plain(100), {Nu: 100, Kappa: 5, Temperature: 2}}, base: 2,
			rows: [][]outcome{{right, wrong, later, missed}, {right, wrong, later, missed}}}
	}
	if c := cfg.decide(trials); c.Value != plain(100) {
		t.Errorf("no gain: %+v", c.Value)
	}
	for i := range trials {
		trials[i].rows[1] = []outcome{right, right, later, later}
	}
	c := cfg.decide(trials)
	if c.Value.Kappa != 5 || c.Value.Later != 0 || len(c.Scores) != 2 {
		t.Errorf("all right: %+v", c)
	}
	trials[2].rows[1] = []outcome{wrong, wrong, missed, missed}
	if c := cfg.decide(trials); c.Value != plain(100) {
		t.Errorf("a gain that is not sure: %+v", c.Value)
	}
}
