package model_test

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
)

// captioned returns the words of four classes, and images of the first three in a space
// that is shifted.
func captioned(t *testing.T) (*gauss.Words, model.Batch) {
	t.Helper()
	const d, each = 16, 4
	rng := rand.New(rand.NewPCG(5, 6))
	texts, b := map[string][]float32{}, model.Batch{X: blas32.General{Cols: d, Stride: d}}
	for i, name := range []string{"apple", "bear", "car", "door"} {
		text := make([]float32, d)
		for j := range text {
			text[j] = float32(rng.NormFloat64())
		}
		texts[name] = text
		for k := 0; k < each && i < 3; k++ {
			for j, v := range text {
				b.X.Data = append(b.X.Data, v+0.6*float32(rng.NormFloat64())+float32(j%2))
			}
			b.X.Rows, b.Labels = b.X.Rows+1, append(b.Labels, name)
		}
	}
	b.Content = embedding.HashRows(b.X)
	w := must.Get(gauss.NewWords(texts))(t)
	return w, b
}

func wordedModel(t *testing.T, w *gauss.Words) *model.Model {
	t.Helper()
	return must.Get(model.New(model.Settings{Method: method.Auto, Heads: method.DefaultConfig(), Words: w}))(t)
}

// reloaded returns a model as it is read back.
func reloaded(t *testing.T, m *model.Model) *model.Model {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.model")
	must.Do(t, m.Save(path))
	return must.Get(model.Load(path))(t)
}

func answersOf(t *testing.T, m *model.Model, x blas32.General) []float64 {
	t.Helper()
	logProb := dense.New(x.Rows, len(m.Classes()))
	must.Do(t, m.Predictor.Score(logProb, nil, x))
	return logProb.Data
}

// TestNamesThenImages: a model of names is a whole model; that it was saved in between, and
// that a class came and went, leaves no trace in what it learns.
func TestNamesThenImages(t *testing.T) {
	w, b := captioned(t)
	m := reloaded(t, wordedModel(t, w))
	if got := m.Classes(); !slices.Equal(got, w.Names) {
		t.Fatalf("classes %v, want %v", got, w.Names)
	}
	o := must.Get(m.Learn(t.Context(), b))(t)
	if want := []string{"apple", "bear", "car"}; !slices.Equal(o.NewClasses, want) || len(o.MoreOf) > 0 {
		t.Errorf("new classes %v, more of %v; want %v and none", o.NewClasses, o.MoreOf, want)
	}
	if chosen := m.Predictor.Words(); chosen.Count == 0 && chosen.Weight == 0 {
		t.Error("names that say what images show do not count")
	}
	direct, _ := must.Get2(model.Train(t.Context(),
		model.Settings{Method: method.Auto, Heads: method.DefaultConfig(), Words: w}, b))(t)
	want := answersOf(t, direct, b.X)
	if !slices.Equal(answersOf(t, m, b.X), want) || !slices.Equal(answersOf(t, reloaded(t, m), b.X), want) {
		t.Error("saving in between changes the answers")
	}
}

// TestForgettingNames: a class that is forgotten loses its name, whether it has images or not.
func TestForgettingNames(t *testing.T) {
	w, b := captioned(t)
	m := wordedModel(t, w)
	must.Get(m.Learn(t.Context(), b))(t)
	for i, name := range []string{"door", "bear"} {
		must.Get(m.ForgetClass(t.Context(), name, model.Forgetting{}))(t)
		if got := m.Classes(); slices.Contains(got, name) || len(got) != 3-i {
			t.Errorf("without %s: %v", name, got)
		}
		m = reloaded(t, m)
	}
	rest := must.Get(gauss.NewWords(map[string][]float32{"apple": w.ByName()["apple"], "car": w.ByName()["car"]}))(t)
	never := wordedModel(t, rest)
	var rows []int
	left := model.Batch{}
	for i, label := range b.Labels {
		if label != "bear" {
			rows, left.Labels = append(rows, i), append(left.Labels, label)
			left.Content = append(left.Content, b.Content[i])
		}
	}
	left.X = dense.Gather32(b.X, rows)
	must.Get(never.Learn(t.Context(), left))(t)
	if !slices.Equal(answersOf(t, m, b.X), answersOf(t, never, b.X)) {
		t.Error("the model answers as if it remembered the class")
	}
	if _, err := m.ForgetClass(t.Context(), "door", model.Forgetting{}); !errors.Is(err, classifier.ErrUnknownClass) {
		t.Errorf("forget it again: %v", err)
	}
}

// TestNamesForAModel: a model that has learned images learns names later, with the same
// result.
func TestNamesForAModel(t *testing.T) {
	w, b := captioned(t)
	m, _, err := model.Train(t.Context(), model.Settings{Method: method.Auto, Heads: method.DefaultConfig()}, b)
	if err != nil {
		t.Fatal(err)
	}
	must.Do(t, m.AddWords(t.Context(), w))
	if got := reloaded(t, m).Classes(); !slices.Equal(got, []string{"apple", "bear", "car", "door"}) {
		t.Errorf("classes %v", got)
	}
	all := wordedModel(t, w)
	must.Get(all.Learn(t.Context(), b))(t)
	if got, want := m.Predictor.Words(), all.Predictor.Words(); got.Count != want.Count || got.Weight != want.Weight {
		t.Errorf("ν %d, ω %g; together %d, %g", got.Count, got.Weight, want.Count, want.Weight)
	}
	ncm, _ := must.Get2(model.Train(t.Context(), model.Settings{Method: "ncm", Heads: method.DefaultConfig()}, b))(t)
	if err := ncm.AddWords(t.Context(), w); !errors.Is(err, gauss.ErrWords) {
		t.Errorf("ncm: %v", err)
	}
}
