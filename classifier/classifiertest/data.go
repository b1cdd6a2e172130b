package classifiertest

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

const dim = 7

// session is a labelled matrix.
type session struct {
	x blas32.General
	y []string
}

// draw returns n examples of each class, around a centre that depends on the
// class's name alone.
func draw(seed uint64, n int, classes ...string) session {
	rng := rand.New(rand.NewPCG(seed, 7))
	s := session{x: blas32.General{Cols: dim, Stride: dim}}
	for range n {
		for _, c := range classes {
			own := rand.New(rand.NewPCG(uint64(c[0]), 1))
			for range dim {
				s.x.Data = append(s.x.Data, float32(2+1.5*own.NormFloat64()+0.4*rng.NormFloat64()))
			}
			s.y = append(s.y, c)
		}
	}
	s.x.Rows = len(s.y)
	return s
}

func base() session { return draw(1, 9, "cat", "ant", "bee") }

// novel returns new classes, one with a single example, and further examples of
// an old class if the head supports them.
func (f Factory) novel() session {
	s := join(draw(2, 5, "dog"), draw(3, 1, "eel"))
	if f.FixedBase {
		return s
	}
	return join(s, draw(4, 4, "ant"))
}

func queries() blas32.General { return draw(5, 6, "cat", "ant", "bee", "dog", "eel").x }

func join(parts ...session) session {
	out := session{x: blas32.General{Cols: dim, Stride: dim}}
	for _, p := range parts {
		out.x.Data = append(out.x.Data, p.x.Data...)
		out.y = append(out.y, p.y...)
	}
	out.x.Rows = len(out.y)
	return out
}

func (s session) only(keep func(i int) bool) session {
	out := session{x: blas32.General{Cols: dim, Stride: dim}}
	for i, c := range s.y {
		if keep(i) {
			out.x.Data = append(out.x.Data, dense.Row32(s.x, i)...)
			out.y = append(out.y, c)
		}
	}
	out.x.Rows = len(out.y)
	return out
}

// learned returns a head that has learned the sessions.
func (f Factory) learned(t *testing.T, sessions ...session) classifier.Learner {
	t.Helper()
	h, err := f.New()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sessions {
		learn(t, h, s)
	}
	return h
}

func learn(t *testing.T, h classifier.Learner, s session) {
	t.Helper()
	if err := h.Learn(context.Background(), s.x, s.y); err != nil {
		t.Fatal(err)
	}
}

// LogProb returns the log-probabilities of x (n×C, without padding).
func LogProb(t testing.TB, h classifier.Head, x blas32.General) blas64.General {
	t.Helper()
	C := len(h.Classes())
	dst := dense.New(x.Rows, C)
	if err := h.Score(dst, nil, x); err != nil {
		t.Fatal(err)
	}
	return dst
}

// novelty returns the novelty of the rows of x.
func novelty(t testing.TB, h classifier.Head, x blas32.General) []float64 {
	t.Helper()
	C := len(h.Classes())
	dst := make([]float64, x.Rows)
	if err := h.Score(dense.New(x.Rows, C), dst, x); err != nil {
		t.Fatal(err)
	}
	return dst
}

// everything returns the saved head, including statistics.
func everything(t *testing.T, h classifier.Learner) []classifier.State {
	t.Helper()
	var states []classifier.State
	if s, ok := h.(classifier.Saver); ok {
		states = append(states, must(s.Save())(t))
	}
	if k, ok := h.(classifier.StatisticsKeeper); ok {
		states = append(states, must(k.Statistics())(t))
	}
	return states
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func unchanged(t *testing.T, what string, h classifier.Learner, before []classifier.State) {
	t.Helper()
	if !reflect.DeepEqual(everything(t, h), before) {
		t.Errorf("%s changed the head", what)
	}
}

// sameHead compares two heads class by class, whatever their column order.
func (f Factory) sameHead(t *testing.T, what string, got, want classifier.Head) {
	t.Helper()
	if !slices.Equal(slices.Sorted(slices.Values(got.Classes())), slices.Sorted(slices.Values(want.Classes()))) {
		t.Fatalf("%s: classes %v, want %v", what, got.Classes(), want.Classes())
	}
	a, b := LogProb(t, got, queries()), LogProb(t, want, queries())
	for i := range a.Rows {
		for j, c := range got.Classes() {
			x, y := a.Data[i*a.Stride+j], b.Data[i*b.Stride+slices.Index(want.Classes(), c)]
			if !(math.Abs(x-y) <= f.Tolerance*(1+math.Abs(y))) {
				t.Fatalf("%s: log p(%s | query %d) = %.12g, want %.12g", what, c, i, x, y)
			}
		}
	}
}
