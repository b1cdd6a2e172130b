package model

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/linalg"
	"github.com/seed-90d10d51/pipeline/linalg/native/nativetest"
	"github.com/seed-90d10d51/pipeline/method"
)

// forgetful cannot be loaded again, or not as it was.
type forgetful struct {
	*fake
	off float64
}

func (f forgetful) Score(dst blas64.General, novelty []float64, x blas32.General) error {
	err := f.fake.Score(dst, novelty, x)
	for i := range novelty {
		novelty[i] += f.off
	}
	return err
}

// TestSaveReadsBack: a file that cannot be loaded, or loads as something else,
// does not replace the old one.
func TestSaveReadsBack(t *testing.T) {
	lost := errors.New("a class is lost")
	change := func(s classifier.State, do func(*fake)) (classifier.Learner, error) {
		h, err := loadFake("", s)
		if err == nil {
			do(h.(*fake))
		}
		return h, err
	}
	for name, c := range map[string]struct {
		load func(string, classifier.State) (classifier.Learner, error)
		says string
	}{
		"unreadable": {func(string, classifier.State) (classifier.Learner, error) { return nil, lost }, lost.Error()},
		"other names": {func(_ string, s classifier.State) (classifier.Learner, error) {
			return change(s, func(f *fake) { f.classes[0] = "fox" })
		}, "names others"},
		"other numbers": {func(_ string, s classifier.State) (classifier.Learner, error) {
			return change(s, func(f *fake) { f.mean["bee"] = []float64{1, 2, 3} })
		}, "another model"},
		"other scores": {func(_ string, s classifier.State) (classifier.Learner, error) {
			h, err := loadFake("", s)
			return forgetful{h.(*fake), 1000}, err
		}, "scores differently"},
	} {
		path := saved(t)
		m := loaded(t, path)
		before, all := contents(t, path), names(t, filepath.Dir(path))
		learn(t, m, batch(1, 2, 3, "elk"))
		m.makes.load = c.load
		err := m.Save(path)
		if !errors.Is(err, errReadBack) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		if now := names(t, filepath.Dir(path)); !bytes.Equal(before, contents(t, path)) || !slices.Equal(now, all) {
			t.Errorf("%s: files %v, before %v", name, now, all)
		}
		m.makes = fakes()
		save(t, m, path) // nothing is lost
		if !slices.Contains(loaded(t, path).Classes(), "elk") {
			t.Errorf("%s: the session is lost", name)
		}
	}
}

// TestSaveReadsBackOnEachBackend: the copy computes on the model's backend, whose
// last bits are not gonum's.
func TestSaveReadsBackOnEachBackend(t *testing.T) {
	notForRaces(t)
	nativetest.Each(t, func(t *testing.T, backend linalg.Backend) {
		for _, m := range method.Methods() {
			s := settings(m.Name)
			s.Backend, s.WithoutCalibration = backend, true
			trained, _, err := Train(context.Background(), s, noisy(0, 4, "ant", "bee", "cat"))
			if err != nil {
				t.Fatalf("%s: %v", m.Name, err)
			}
			path := savedAs(t, trained)
			learn(t, trained, noisy(1, 3, "dog"))
			save(t, trained, path)
		}
	})
}

// TestExtremeModelsCanBeSaved: Load's check for overflow refuses no model that was
// honestly made, however large or small the embeddings.
func TestExtremeModelsCanBeSaved(t *testing.T) {
	notForRaces(t)
	for _, m := range method.Methods() {
		for _, scale := range []float32{0, 1e-30, 1e-4, 1e4, 1e18, 1e30, 1e37} {
			b := noisy(0, 6, "ant", "bee", "cat")
			for i := range b.X.Data {
				b.X.Data[i] *= scale
			}
			trained, _, err := Train(context.Background(), settings(m.Name), b)
			if err != nil {
				t.Logf("%s on embeddings of %g: %v", m.Name, scale, err)
				continue
			}
			if err := trained.Save(filepath.Join(t.TempDir(), "m")); err != nil {
				t.Errorf("%s on embeddings of %g: %v", m.Name, scale, err)
			}
		}
	}
}

// BenchmarkReadBack is what reading back adds to a save.
func BenchmarkReadBack(b *testing.B) {
	const classes, dim = 10_000, 384
	for _, name := range []string{"ncm", "plda"} {
		b.Run(fmt.Sprintf("%s_C=%d_d=%d", name, classes, dim), func(b *testing.B) {
			x, y := dense.New32(2*classes, dim), make([]string, 2*classes)
			rng := rand.New(rand.NewPCG(1, 1))
			for i := range x.Data {
				x.Data[i] = float32(rng.NormFloat64() + float64(i/dim/2%97))
			}
			for i := range y {
				y[i] = fmt.Sprint(i / 2)
			}
			s := settings(name)
			s.Temperature.Temperature, s.WithoutCalibration = 1, true
			m := must.Get(New(s))(b)
			must.Do(b, m.Predictor.Learn(b.Context(), x, y))
			path := savedAs(b, m)
			for b.Loop() {
				must.Do(b, m.readBack(path, m.onDisk.written, m.statistics.pointer))
			}
		})
	}
}
