package plda_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/classifiertest"
	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/classifier/plda"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

const worded = 12 // values per embedding

// described returns texts of classes, and images near them in a space that is shifted.
func described(classes []string, each int) (texts map[string][]float32, x blas32.General, y []string) {
	rng := rand.New(rand.NewPCG(3, 4))
	texts = map[string][]float32{}
	x = blas32.General{Cols: worded, Stride: worded}
	for _, name := range classes {
		text := make([]float32, worded)
		for j := range text {
			text[j] = float32(rng.NormFloat64())
		}
		texts[name] = text
		for range each {
			for j, v := range text {
				x.Data = append(x.Data, v+0.3*float32(rng.NormFloat64())+2*float32(j%2))
			}
			x.Rows, y = x.Rows+1, append(y, name)
		}
	}
	return texts, x, y
}

func named(t *testing.T, texts map[string][]float32) (*plda.PLDA, *gauss.Words) {
	t.Helper()
	head := must.Get(plda.New(plda.DefaultConfig()))(t)
	w := must.Get(gauss.NewWords(texts))(t)
	must.Do(t, head.UseWords(w))
	return head, w
}

// weighed gives the words of a head the weights that a calibration could choose.
func weighed(t *testing.T, head *plda.PLDA) {
	t.Helper()
	w := *head.Words()
	w.Count, w.Weight, w.Doubted = 2, 0.5, w.Names[:1]
	must.Do(t, head.UseWords(&w))
}

// TestNamesAlone: without examples a head is the softmax of 100 times the cosine.
func TestNamesAlone(t *testing.T) {
	texts, x, _ := described([]string{"a", "b", "c"}, 2)
	head, w := named(t, texts)
	if head.Started() || !slices.Equal(head.Classes(), []string{"a", "b", "c"}) {
		t.Fatalf("started %v, classes %v", head.Started(), head.Classes())
	}
	got := classifiertest.LogProb(t, head, x)
	for i := range x.Rows {
		want := w.Cosines(dense.Row32(x, i))
		classifier.LogSoftmax(want)
		for c, v := range want {
			if d := math.Abs(dense.Row(got, i)[c] - v); d > 1e-4 {
				t.Errorf("row %d, class %d: %g, want %g", i, c, dense.Row(got, i)[c], v)
			}
		}
	}
}

// TestWordsInEveryForm: a saved head, the linear form and the graph score as the head does,
// with classes that have only a name, only examples, and both.
func TestWordsInEveryForm(t *testing.T) {
	texts, x, y := described([]string{"a", "b", "c", "d", "e"}, 3)
	delete(texts, "e")
	all, _ := named(t, texts)
	only := slices.DeleteFunc(dense.Range(0, x.Rows), func(i int) bool { return y[i] == "a" })
	var labels []string
	for _, i := range only {
		labels = append(labels, y[i])
	}
	must.Do(t, all.Learn(t.Context(), dense.Gather32(x, only), labels))
	weighed(t, all)
	if want := []string{"a", "b", "c", "d", "e"}; !all.Started() || !slices.Equal(all.Classes(), want) {
		t.Fatalf("started %v, classes %v, want %v", all.Started(), all.Classes(), want)
	}
	want := classifiertest.LogProb(t, all, x)

	state := must.Get(all.Save())(t)
	loaded := must.Get(plda.Load(state))(t)
	if got := classifiertest.LogProb(t, loaded, x); !slices.Equal(got.Data, want.Data) {
		t.Error("a loaded head scores differently")
	}

	features := must.Get(all.Features(x))(t)
	weights, b := must.Get2(all.Weights(dense.Range(0, 5)))(t)
	for i := range x.Rows {
		scores := slices.Clone(b)
		for c := range scores {
			scores[c] += dense.Dot(dense.Row(weights, c), dense.Row(features, i))
		}
		classifier.LogSoftmax(scores)
		for c, v := range scores {
			if math.Abs(v-dense.Row(want, i)[c]) > 1e-8 {
				t.Fatalf("row %d, class %d: linear %g, head %g", i, c, v, dense.Row(want, i)[c])
			}
		}
	}
	if w, _, err := all.Unseen(); err != nil || len(w) != features.Cols {
		t.Errorf("an unseen class has %d weights for %d features: %v", len(w), features.Cols, err)
	}
	classifiertest.CheckExport(t, all, x)
}

// TestWordsFollowTheirClasses: a forgotten class loses its name, one without its examples
// keeps it, a renamed one takes its text along.
func TestWordsFollowTheirClasses(t *testing.T) {
	texts, x, y := described([]string{"a", "b", "c"}, 2)
	head, _ := named(t, texts)
	must.Do(t, head.Learn(t.Context(), x, y))
	must.Do(t, head.ForgetSamples(dense.Rows32(x, 0, 2), y[:2]))
	if !slices.Contains(head.Classes(), "a") {
		t.Errorf("without its examples class a is gone: %v", head.Classes())
	}
	text := slices.Clone(head.Words().ByName()["b"])
	must.Do(t, head.Rename("b", "B"))
	if got := head.Words().ByName()["B"]; !slices.Equal(got, text) {
		t.Error("the renamed class has another text")
	}
	for _, name := range []string{"a", "B", "c"} {
		must.Do(t, head.Forget(name))
		if slices.Contains(head.Classes(), name) || head.Words().ByName()[name] != nil {
			t.Errorf("%s is still there: %v", name, head.Classes())
		}
	}
	if head.Dim() != 0 || head.Words() != nil {
		t.Errorf("a head that has forgotten everything has %d dimensions, words %v", head.Dim(), head.Words())
	}
}

func TestWordsAreRefused(t *testing.T) {
	texts, x, y := described([]string{"a", "b"}, 2)
	w := must.Get(gauss.NewWords(texts))(t)
	lda := must.Get(plda.New(plda.LDA()))(t)
	if err := lda.UseWords(w); !errors.Is(err, gauss.ErrWords) {
		t.Errorf("lda: %v", err)
	}
	head := must.Get(plda.New(plda.DefaultConfig()))(t)
	must.Do(t, head.Learn(t.Context(), x, y))
	other := must.Get(gauss.NewWords(map[string][]float32{"a": {1, 2}}))(t)
	if err := head.UseWords(other); !errors.Is(err, gauss.ErrWords) {
		t.Errorf("texts of two values: %v", err)
	}
	for name, bad := range map[string]map[string][]float32{
		"zero": {"a": {0, 0}}, "NaN": {"a": {float32(math.NaN()), 1}}, "ragged": {"a": {1, 2}, "b": {1}}, "none": {},
	} {
		if _, err := gauss.NewWords(bad); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
