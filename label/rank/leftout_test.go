package rank

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
)

// mislabelled are n rows of each of some blobs, of which the first of each has the
// label of the next; and a model that has learned them so.
func mislabelled(t *testing.T, blobs, n, d int) (*model.Model, rows) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 1))
	var items rows
	b := model.Batch{X: blas32.General{Cols: d, Stride: d}}
	for g := range blobs {
		centre := make([]float64, d)
		for j := range centre {
			centre[j] = rng.NormFloat64()
		}
		for i := range n {
			x := make([]float32, d)
			for j := range x {
				x[j] = float32(centre[j] + 0.4*rng.NormFloat64())
			}
			path, given := fmt.Sprintf("%d/%d", g, i), fmt.Sprint("class ", g)
			if i == 0 {
				path, given = fmt.Sprintf("%d/wrong", g), fmt.Sprint("class ", (g+1)%blobs)
			}
			items = append(items,
				embedding.Item{Sample: dataset.Sample{Path: path, Label: given}, Vector: x, Hash: embedding.HashRow(x)})
			b.X.Rows, b.X.Data = b.X.Rows+1, append(b.X.Data, x...)
			b.Labels, b.Content = append(b.Labels, given), append(b.Content, embedding.HashRow(x))
		}
	}
	m, _, err := model.Train(context.Background(), model.Settings{Method: "gpr", Heads: method.DefaultConfig()}, b)
	if err != nil {
		t.Fatal(err)
	}
	return m, items
}

// suspects ranks items by label-error, what the model has learned set aside, beside those that somebody has decided.
func suspects(t *testing.T, m *model.Model, top int, items rows, judged ...embedding.Item) (*Ranking, int, error) {
	t.Helper()
	c := DefaultConfig()
	c.By, c.Top = LabelError, top
	scorer := must.Get(c.Scorer(m.Predictor, math.NaN()))(t)
	r := must.Get(New(c, m.Classes()))(t)
	r.SetAside(m)
	for _, item := range judged {
		r.Judged(item.Hash, item.Vector)
	}
	pass := label.Pass{Scorer: scorer, Rows: items, Sinks: []label.Sink{r}}
	must.Get(pass.Run(context.Background()))(t)
	n, err := r.LeaveOut(context.Background(), m, math.NaN())
	return r, n, err
}

// TestLeaveOutFindsWhatAModelDefends: a model that fits its labels exactly names none of
// its wrong labels; left out, they come first, with the right class.
func TestLeaveOutFindsWhatAModelDefends(t *testing.T) {
	m, items := mislabelled(t, 5, 6, 20)
	c := DefaultConfig()
	c.By = LabelError
	for _, e := range ranked(t, m.Predictor, c, math.NaN(), items...).Entries {
		if e.Label != e.Given {
			t.Fatalf("the model does not defend %+v, so that this test says nothing", e)
		}
	}
	r, n, err := suspects(t, m, 0, items)
	if err != nil || n != 30 || len(r.Entries) != 30 {
		t.Fatalf("%d of %d entries left out, %v", n, len(r.Entries), err)
	}
	for i, e := range r.Entries {
		var g int
		fmt.Sscanf(e.Path, "%d/", &g)
		if wrong := e.Path == fmt.Sprintf("%d/wrong", g); wrong != (i < 5) || wrong &&
			e.Label != fmt.Sprint("class ", g) || e.Score < -1 || e.Score > 1 {
			t.Errorf("place %d: %+v", i, e)
		}
	}
	top, _, err := suspects(t, m, 3, items)
	if err != nil || paths(top.Entries) != paths(r.Entries[:3]) {
		t.Errorf("top 3: %s, %v", paths(top.Entries), err)
	}
}

// TestNumberOfWrongLabels: what is claimed is near what is wrong, and nothing where nothing
// is: of the same photos under their right names.
func TestNumberOfWrongLabels(t *testing.T) {
	m, items := mislabelled(t, 6, 10, 20)
	r, _ := must.Get2(suspects(t, m, 0, items))(t)
	if w := r.Wrong(); w.Of != 60 || math.Abs(w.Expected-6) > 2 || w.Low > 6 || w.High < 6 {
		t.Errorf("%.1f of %d labels are claimed to be wrong, %.1f to %.1f; 6 of 60 are", w.Expected, w.Of, w.Low,
			w.High)
	}
	right := slices.DeleteFunc(slices.Clone(items), func(it embedding.Item) bool {
		return strings.HasSuffix(it.Sample.Path, "wrong")
	})
	r, _ = must.Get2(suspects(t, trainedOn(t, right), 0, right))(t)
	if w := r.Wrong(); w.Of != 54 || w.Expected > 0.6 {
		t.Errorf("%.1f of %d right labels are claimed to be wrong", w.Expected, w.Of)
	}
}

// TestWrongLabelsWhileTheyAreCorrected: when four of six wrong labels are corrected, and the model has learned
// that, about two are said to be wrong of the others; the corrected ones are not ranked.
func TestWrongLabelsWhileTheyAreCorrected(t *testing.T) {
	_, items := mislabelled(t, 6, 10, 20)
	var corrected, rest rows
	for _, it := range items {
		if strings.HasSuffix(it.Sample.Path, "wrong") && len(corrected) < 4 {
			it.Sample.Label = "class " + it.Sample.Path[:1]
			corrected = append(corrected, it)
		} else {
			rest = append(rest, it)
		}
	}
	m := trainedOn(t, slices.Concat(corrected, rest))
	r, n, err := suspects(t, m, 0, rest, corrected...)
	if err != nil || n != 56 || len(r.Entries) != 56 {
		t.Fatalf("%d of %d entries left out, %v", n, len(r.Entries), err)
	}
	if w := r.Wrong(); w.Of != 56 || math.Abs(w.Expected-2) > 1 || w.Low > 2 || w.High < 2 {
		t.Errorf("%.1f of %d labels are claimed to be wrong, %.1f to %.1f; 2 of 56 are", w.Expected, w.Of, w.Low,
			w.High)
	}
}

// trainedOn returns a model of the labels of items.
func trainedOn(t *testing.T, items rows) *model.Model {
	t.Helper()
	b := model.Batch{X: blas32.General{Cols: 20, Stride: 20}}
	for _, it := range items {
		b.X.Rows, b.X.Data = b.X.Rows+1, append(b.X.Data, it.Vector...)
		b.Labels, b.Content = append(b.Labels, it.Sample.Label), append(b.Content, it.Hash)
	}
	m, _, err := model.Train(context.Background(), model.Settings{Method: "gpr", Heads: method.DefaultConfig()}, b)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestLeaveOutOfAPart: what the model keeps need not be ranked, new images are ranked
// beside learned ones, and a content counts as learned whatever class it is given.
func TestLeaveOutOfAPart(t *testing.T) {
	m, items := mislabelled(t, 5, 6, 20)
	wrong := items[0]
	wrong.Sample.Label = "class 3" // neither what was learned nor right
	stranger := items[1]
	stranger.Sample.Path, stranger.Sample.Label = "elsewhere", "no class"
	fresh := items[2]
	fresh.Sample.Path, fresh.Hash = "new", model.Hash{1}
	r, n, err := suspects(t, m, 0, rows{wrong, stranger, fresh, items[4]})
	if err != nil || n != 2 || len(r.Entries) != 3 || r.Unlabelled != 1 {
		t.Fatalf("%d left out, %d entries, %d without a class, %v", n, len(r.Entries), r.Unlabelled, err)
	}
	if e := r.Entries[0]; e.Path != "0/wrong" || e.Label != "class 0" || e.Given != "class 3" {
		t.Errorf("first: %+v", e)
	}
}

// TestLeaveOutWithoutAllRows ranks as the model sees them, and says so.
func TestLeaveOutWithoutAllRows(t *testing.T) {
	m, items := mislabelled(t, 3, 25, 8) // more images of a class than a model keeps
	r, n, err := suspects(t, m, 0, items[:10])
	var missing *model.MissingRowsError
	if !errors.As(err, &missing) || missing.Missing != 65 || n != 0 || len(r.Entries) != 10 {
		t.Errorf("%d left out, %d entries, %v", n, len(r.Entries), err)
	}
	if _, n, err := suspects(t, m, 0, items); err != nil || n != 75 {
		t.Errorf("all rows: %d left out, %v", n, err)
	}
}
