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
	head, err := plda.New(plda.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	w, err := gauss.NewWords(texts)
	if err == nil {
		err = head.UseWords(w)
	}
	if err != nil {
		t.Fatal(err)
	}
	return head, w
}

// weighed gives the words of a head the weights that a calibration could choose.
func weighed(t *testing.T, head *plda.PLDA) {
	t.Helper()
	w := *head.Words()
	w.Count, w.Weight, w.Doubted = 2, 0.5, w.Names[:1]
	if err := head.UseWords(&w); err != nil {
		t.Fatal(err)
	}
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
	if err := all.Learn(t.Context(), dense.Gather32(x, only), labels); err != nil {
		t.Fatal(err)
	}
	weighed(t, all)
	if want := []string{"a", "b", "c", "d", "e"}; !all.Started() || !slices.Equal(all.Classes(), want) {
		t.Fatalf("started %v, classes %v, want %v", all.Started(), all.Classes(), want)
	}
	want := classifiertest.LogProb(t, all, x)

	state, err := all.Save()
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := plda.Load(state)
	if err != nil {
		t.Fatal(err)
	}
	if got := classifiertest.LogProb(t, loaded, x); !slices.Equal(got.Data, want.Data) {
		t.Error("a loaded head scores differently")
	}

	features, err := all.Features(x)
	if err != nil {
		t.Fatal(err)
	}
	weights, b, err := all.Weights(dense.Range(0, 5))
	if err != nil {
		t.Fatal(err)
	}
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
	if err := head.Learn(t.Context(), x, y); err != nil {
		t.Fatal(err)
	}
	if err := head.ForgetSamples(dense.Rows32(x, 0, 2), y[:2]); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(head.Classes(), "a") {
		t.Errorf("without its examples class a is gone: %v", head.Classes())
	}
	text := slices.Clone(head.Words().ByName()["b"])
	if err := head.Rename("b", "B"); err != nil {
		t.Fatal(err)
	}
	if got := head.Words().ByName()["B"]; !slices.Equal(got, text) {
		t.Error("the renamed class has another text")
	}
	for _, name := range []string{"a", "B", "c"} {
		if err := head.Forget(name); err != nil {
			t.Fatal(err)
		}
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
	w, err := gauss.NewWords(texts)
	if err != nil {
		t.Fatal(err)
	}
	lda, err := plda.New(plda.LDA())
	if err != nil {
		t.Fatal(err)
	}
	if err := lda.UseWords(w); !errors.Is(err, gauss.ErrWords) {
		t.Errorf("lda: %v", err)
	}
	head, err := plda.New(plda.DefaultConfig())
	if err == nil {
		err = head.Learn(t.Context(), x, y)
	}
	if err != nil {
		t.Fatal(err)
	}
	other, err := gauss.NewWords(map[string][]float32{"a": {1, 2}})
	if err != nil {
		t.Fatal(err)
	}
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
