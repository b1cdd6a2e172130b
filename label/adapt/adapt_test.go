package adapt_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/adapt"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
)

const (
	classes = 8
	dim     = 16
	width   = 0.8 // standard deviation within classes, of centres it is 1
)

// A folder is embeddings of images, in some order.
type folder []embedding.Item

func (f folder) Provenance() embedding.Provenance { return embedding.Provenance{Dim: dim} }

func (f folder) Each(_ context.Context, emit func(embedding.Item) error) (embedding.Outcome, error) {
	for _, item := range f {
		if err := emit(item); err != nil {
			return embedding.Outcome{}, err
		}
	}
	return embedding.Outcome{}, nil
}

// draw returns n images of each of the classes from first to last, the same for
// the same stream; centres depend on the class alone.
func draw(stream uint64, n, first, last int) folder {
	var out folder
	for class := first; class < last; class++ {
		centres, noise := rand.New(rand.NewPCG(1, uint64(class))), rand.New(rand.NewPCG(stream, uint64(class)))
		centre := make([]float64, dim)
		for j := range centre {
			centre[j] = centres.NormFloat64()
		}
		for i := range n {
			x := make([]float32, dim)
			for j := range x {
				x[j] = float32(centre[j] + width*noise.NormFloat64())
			}
			s := dataset.Sample{Path: fmt.Sprintf("%d/%d-%d", class, stream, i), Label: fmt.Sprintf("c%d", class)}
			out = append(out, embedding.Item{Sample: s, Hash: embedding.HashRow(x), Vector: x})
		}
	}
	return out
}

func train(t *testing.T, name string, f folder) *model.Model {
	t.Helper()
	images := must.Get(embedding.Collect(t.Context(), f))(t)
	settings := model.Settings{Method: name, Heads: method.DefaultConfig(), Provenance: f.Provenance()}
	m, _ := must.Get2(model.Train(t.Context(), settings, model.NewBatch(images)))(t)
	return m
}

func fit(t *testing.T, m *model.Model, by label.Scorer, f folder) (*adapt.Head, *label.Kept) {
	t.Helper()
	h, kept := must.Get2(adapt.Fit(t.Context(), m, by, f, t.TempDir()))(t)
	t.Cleanup(kept.Close)
	return h, kept
}

// answers returns the log-probabilities and novelty of the first n kept rows.
func answers(t *testing.T, kept *label.Kept, n int) (blas64.General, []float64) {
	t.Helper()
	logProb, novelty := must.Get2(kept.Scores(dense.Range(0, n)))(t)
	return logProb, novelty
}

// right counts the photos of a folder that are named correctly.
func right(classes []string, logProb blas64.General, f folder) (n int) {
	for i := range logProb.Rows {
		if classifier.FromLogProb(classes, dense.Row(logProb, i), 1).Label == f[i].Sample.Label {
			n++
		}
	}
	return n
}

func scores(t *testing.T, h classifier.Head, f folder) (logProb, novelty []float64, right int) {
	t.Helper()
	x := blas32.General{Rows: len(f), Cols: dim, Stride: dim}
	for _, item := range f {
		x.Data = append(x.Data, item.Vector...)
	}
	dst, novelty := dense.New(len(f), len(h.Classes())), make([]float64, len(f))
	must.Do(t, h.Score(dst, novelty, x))
	for i, item := range f {
		if classifier.FromLogProb(h.Classes(), dense.Row(dst, i), 1).Label == item.Sample.Label {
			right++
		}
	}
	return dst.Data, novelty, right
}

// TestFolder: a folder helps every kind of head, also one that has only two of the classes, or mostly images of
// unknown classes; novelty stays that of the model, and so does how sure it is of its own labels.
func TestFolder(t *testing.T) {
	test := draw(3, 60, 0, classes)
	for _, c := range []struct {
		name   string
		folder folder
		known  int // of the first photos
		gain   int // at least
	}{
		{"all classes", test, len(test), len(test) / 50},
		{"two classes", test[:120], 120, 4},
		{"four times as many unknown", slices.Concat(test, draw(3, 60, classes, 5*classes)), len(test), 0},
	} {
		for method, shots := range map[string]int{"plda": 1, "ncm": 2, "lda": 2, "gptree": 2} {
			m := train(t, method, draw(2, shots, 0, classes))
			before, own, _ := scores(t, m.Predictor, c.folder)
			h, kept := fit(t, m, label.Scorer{}, c.folder)
			logProb, novelty := answers(t, kept, len(c.folder))
			logProb.Rows = c.known
			now := right(h.Classes(), logProb, c.folder)
			_, _, without := scores(t, m.Predictor, c.folder[:c.known])
			t.Logf("%s, %s: %d of %d named correctly, %d without; λ %.2f, h %.2f; %s", c.name, method, now, c.known,
				without, h.Strength, h.Few, h.Note())
			if now < without+c.gain || (h.Moved > 0) != (method == "plda") {
				t.Errorf("%s, %s: %d of %d named correctly, %d without; moved %d classes", c.name, method, now, c.known,
					without, h.Moved)
			}
			if !slices.Equal(novelty, own) {
				t.Errorf("%s, %s: the novelty changed", c.name, method)
			}
			if again, _, _ := scores(t, m.Predictor, c.folder); !slices.Equal(before, again) {
				t.Errorf("%s, %s: adapting changed the model", c.name, method)
			}
		}
	}
}

// TestDecided: a photo that a person decided keeps its scores, and those like it follow it.
func TestDecided(t *testing.T) {
	m := train(t, "ncm", draw(2, 2, 0, classes))
	test := draw(3, 40, 0, classes)
	_, alone := fit(t, m, label.Scorer{}, test)
	before, _ := answers(t, alone, len(test))
	// Every second photo of class 0 is called class 1.
	decided := map[[32]byte]bool{}
	for i := 0; i < 40; i += 2 {
		decided[test[i].Hash] = true
	}
	by := label.Scorer{Decided: func(content [32]byte) (label.Decision, bool) {
		return label.Decision{Class: "c1", By: label.Person}, decided[content]
	}}
	_, kept := fit(t, m, by, test)
	after, _ := answers(t, kept, len(test))
	follow := 0
	for i := 1; i < 40; i += 2 {
		if dense.Row(after, i)[1] > dense.Row(before, i)[1] {
			follow++
		}
	}
	if follow < 18 {
		t.Errorf("%d of 20 photos are called more probably what those like them were decided to be", follow)
	}
}

// TestUndone: with so much noise that most labels are wrong, moving means towards a folder of
// mostly one class can make photos of the same label less alike. It is then undone, and
// the means are those of the model.
func TestUndone(t *testing.T) {
	var undone int
	for stream := range uint64(20) {
		m := train(t, "plda", blurred(40+stream, 1, 0, classes))
		test := slices.Concat(blurred(70+stream, 30, 0, 1), blurred(70+stream, 3, 1, classes))
		h, _ := fit(t, m, label.Scorer{}, test)
		if !h.Undone {
			continue
		}
		undone++
		got, _, _ := scores(t, h, test)
		want, _, _ := scores(t, m.Predictor, test)
		if h.Moved != 0 || !slices.Equal(got, want) || strings.Contains(h.Note(), "moved") {
			t.Errorf("undone, but %s", h.Note())
		}
	}
	if undone == 0 {
		t.Error("never undone")
	}
}

// blurred is draw with more noise.
func blurred(stream uint64, n, first, last int) folder {
	out := draw(stream, n, first, last)
	noise := rand.New(rand.NewPCG(stream, 99))
	for i := range out {
		for j := range out[i].Vector {
			out[i].Vector[j] += 1.5 * float32(noise.NormFloat64())
		}
		out[i].Hash = embedding.HashRow(out[i].Vector)
	}
	return out
}

// TestUnknown: photos of nine times as many unknown classes, some of which look like
// known ones, move none of these.
func TestUnknown(t *testing.T) {
	for stream := range uint64(5) {
		m := train(t, "plda", draw(20+stream, 1, 0, classes))
		if h, _ := fit(t, m, label.Scorer{}, draw(30+stream, 1, classes, 10*classes)); h.Moved > 0 {
			t.Errorf("a folder of unknown classes: %s", h.Note())
		}
	}
}

// TestOrder: neither the order of the images, nor copies of them, nor labels that they happen to have, nor the
// number of threads changes a bit.
func TestOrder(t *testing.T) {
	m := train(t, "plda", draw(2, 1, 0, classes))
	test := draw(3, 40, 0, classes)
	_, kept := fit(t, m, label.Scorer{}, test)
	want, _ := answers(t, kept, len(test))
	mixed := slices.Concat(test, test)
	slices.Reverse(mixed)
	for i := range mixed {
		mixed[i].Sample.Label = fmt.Sprintf("c%d", i%classes)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	_, kept = fit(t, m, label.Scorer{}, mixed)
	got, _ := answers(t, kept, len(mixed))
	for i := range mixed {
		if !slices.Equal(dense.Row(got, i), dense.Row(want, (len(mixed)-1-i)%len(test))) {
			t.Fatalf("photo %d has other scores in another order", i)
		}
	}
}

// TestManyImages: classes of models with enough images stay where they are.
func TestManyImages(t *testing.T) {
	m := train(t, "plda", draw(2, 2, 0, classes))
	test := draw(3, 40, 0, classes)
	h, _ := fit(t, m, label.Scorer{}, test)
	got, _, _ := scores(t, h, test)
	want, _, _ := scores(t, m.Predictor, test)
	if !slices.Equal(got, want) || h.Moved != 0 {
		t.Errorf("classes of two images were moved: %s", h.Note())
	}
}

// TestDegenerate: folders of nothing, of one photo, of copies, and of one photo per class, in which like photos
// are of other classes.
func TestDegenerate(t *testing.T) {
	m := train(t, "plda", draw(2, 2, 0, classes))
	one := draw(3, 1, 0, classes)
	for name, f := range map[string]folder{
		"nothing": {{Err: errors.New("cut short")}}, "one photo": one[:1], "copies": {one[0], one[0], one[0], one[0]},
	} {
		if h, _ := fit(t, m, label.Scorer{}, f); h.Strength != 0 || !strings.Contains(h.Note(), "too few") {
			t.Errorf("%s: %s", name, h.Note())
		}
	}
	h, kept := fit(t, m, label.Scorer{}, one)
	logProb, _ := answers(t, kept, len(one))
	_, _, without := scores(t, m.Predictor, one)
	if now := right(h.Classes(), logProb, one); now < without {
		t.Errorf("one photo per class: %d right, %d without; λ %g", now, without, h.Strength)
	}
	short := folder{{Sample: dataset.Sample{Path: "a"}, Vector: make([]float32, dim-1)}}
	if _, _, err := adapt.Fit(t.Context(), m, label.Scorer{}, short, t.TempDir()); err == nil ||
		!strings.Contains(err.Error(), "15 dimensions") {
		t.Errorf("%v", err)
	}
}

// TestAsk: a photo that many doubtful ones resemble settles several, one of two copies settles nothing, and the
// folder is labelled as Fit does. What was decided settles less.
func TestAsk(t *testing.T) {
	m := train(t, "plda", draw(2, 2, 0, classes))
	f := draw(3, 30, 0, classes)
	copied := f[5]
	copied.Sample.Path = "copy"
	f = append(f, copied)
	ask := func(by label.Scorer) (doubts, *label.Kept) {
		_, kept := must.Get2(adapt.Ask(t.Context(), m, by, f, t.TempDir()))(t)
		t.Cleanup(kept.Close)
		var found doubts
		scorer := label.Scorer{Head: m.Predictor, TopK: 1}
		must.Get(label.Pass{Scorer: scorer, Rows: kept, Sinks: []label.Sink{&found}}.Run(t.Context()))(t)
		return found, kept
	}
	found, kept := ask(label.Scorer{})
	_, plain := fit(t, m, label.Scorer{}, f)
	got, _ := answers(t, kept, len(f))
	want, _ := answers(t, plain, len(f))
	if !slices.Equal(got.Data, want.Data) {
		t.Error("asking changes the labels")
	}
	most := slices.Max(found)
	if last := len(f) - 1; found[last]*found[5] != 0 || found[last]+found[5] == 0 || most < 1 {
		t.Errorf("of two copies: %.3g, %.3g; most: %.3g", found[5], found[last], most)
	}
	at := slices.Index(found, most)
	decided, _ := ask(label.Scorer{Decided: func(content [sha256.Size]byte) (label.Decision, bool) {
		return label.Decision{Class: f[at].Sample.Label, By: label.Person}, content == f[at].Hash
	}})
	if decided[at] >= most {
		t.Errorf("decided, photo %d settles %.3g, and before %.3g", at, decided[at], most)
	}
}

// Doubts are those of scored rows.
type doubts []float64

func (d *doubts) Put(row label.Scored) error {
	*d = append(*d, row.Doubt)
	return nil
}
func (*doubts) Commit(embedding.Outcome) error { return nil }
func (*doubts) Abort()                         {}
