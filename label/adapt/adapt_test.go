package adapt_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/internal/dense"
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
type folder []embed.Item

func (f folder) Provenance() embed.Provenance { return embed.Provenance{Dim: dim} }

func (f folder) Each(_ context.Context, emit func(embed.Item) error) (embed.Outcome, error) {
	for _, item := range f {
		if err := emit(item); err != nil {
			return embed.Outcome{}, err
		}
	}
	return embed.Outcome{}, nil
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
			out = append(out, embed.Item{Sample: s, Hash: embed.HashRow(x), Vector: x})
		}
	}
	return out
}

func train(t *testing.T, name string, f folder) *model.Model {
	t.Helper()
	images, err := embed.Collect(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := model.Train(t.Context(),
		model.Settings{Method: name, Heads: method.DefaultConfig(), Provenance: f.Provenance()}, model.NewBatch(images))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func fit(t *testing.T, m *model.Model, f folder) *adapt.Head {
	t.Helper()
	h, kept, err := adapt.Fit(t.Context(), m, label.Scorer{}, f, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(kept.Close)
	return h
}

// scores returns log-probabilities and novelty of a folder, and how many images it
// names correctly.
func scores(t *testing.T, h classifier.Head, f folder) (logProb, novelty []float64, right int) {
	t.Helper()
	x := blas32.General{Rows: len(f), Cols: dim, Stride: dim}
	for _, item := range f {
		x.Data = append(x.Data, item.Vector...)
	}
	dst, novelty := dense.New(len(f), len(h.Classes())), make([]float64, len(f))
	if err := h.Score(dst, novelty, x); err != nil {
		t.Fatal(err)
	}
	for i, item := range f {
		if classifier.FromLogProb(h.Classes(), dense.Row(dst, i), 1).Label == item.Sample.Label {
			right++
		}
	}
	return dst.Data, novelty, right
}

// TestAdapting: with one image per class the folder helps, also one that has only
// two of the classes, or mostly images of unknown classes; novelty stays that of
// the model.
func TestAdapting(t *testing.T) {
	m := train(t, "plda", draw(2, 1, 0, classes))
	test := draw(3, 60, 0, classes)
	_, before, plain := scores(t, m.Predictor, test)
	for _, c := range []struct {
		name  string
		other folder
		test  folder
		gain  int // at least
	}{
		{"all classes", test, test, len(test) / 50},
		{"two classes", test[:120], test[:120], 0},
		{"four times as many unknown", slices.Concat(test, draw(3, 60, classes, 5*classes)), test, 0},
	} {
		h := fit(t, m, c.other)
		_, novelty, right := scores(t, h, c.test)
		_, own, without := scores(t, m.Predictor, c.test)
		t.Logf("%s: %d of %d named correctly, %d without; %s", c.name, right, len(c.test), without, h.Note())
		if now, own := sureness(t, h, c.other), sureness(t, m.Predictor, c.other); now > own+1e-6 {
			t.Errorf("%s: surer than the model: %.4f, not %.4f", c.name, now, own)
		}
		if right < without+c.gain || h.Moved == 0 {
			t.Errorf("%s: %d of %d named correctly, %d without adapting; moved %d classes", c.name, right, len(c.test),
				without, h.Moved)
		}
		if !slices.Equal(novelty, own) {
			t.Errorf("%s: the novelty changed", c.name)
		}
	}
	if _, after, again := scores(t, m.Predictor, test); again != plain || !slices.Equal(before, after) {
		t.Error("adapting changed the model")
	}
}

// sureness returns the mean largest probability.
func sureness(t *testing.T, h classifier.Head, f folder) float64 {
	t.Helper()
	logProb, _, _ := scores(t, h, f)
	var sum float64
	for row := range slices.Chunk(logProb, len(h.Classes())) {
		sum += math.Exp(slices.Max(row)) / float64(len(f))
	}
	return sum
}

// TestUndone: with so much noise that most labels are wrong, adapting to a folder of
// mostly one class can make photos of the same label less alike. It is then undone, and
// the scores are those of the model.
func TestUndone(t *testing.T) {
	var undone int
	for stream := range uint64(20) {
		m := train(t, "plda", blurred(40+stream, 1, 0, classes))
		test := slices.Concat(blurred(70+stream, 30, 0, 1), blurred(70+stream, 3, 1, classes))
		h := fit(t, m, test)
		if !h.Undone {
			continue
		}
		undone++
		got, _, _ := scores(t, h, test)
		want, _, _ := scores(t, m.Predictor, test)
		if h.Moved != 0 || !slices.Equal(got, want) || !strings.Contains(h.Note(), "not adapted") {
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
		out[i].Hash = embed.HashRow(out[i].Vector)
	}
	return out
}

// TestUnknown: photos of nine times as many unknown classes, some of which look like
// known ones, move none of these.
func TestUnknown(t *testing.T) {
	for stream := range uint64(5) {
		m := train(t, "plda", draw(20+stream, 2, 0, classes))
		if h := fit(t, m, draw(30+stream, 1, classes, 10*classes)); h.Moved > 0 {
			t.Errorf("a folder of unknown classes: %s", h.Note())
		}
	}
}

// TestOrder: neither the order of the images, nor copies of them, nor the number of
// threads changes a bit.
func TestOrder(t *testing.T) {
	m := train(t, "plda", draw(2, 2, 0, classes))
	test := draw(3, 40, 0, classes)
	want, _, _ := scores(t, fit(t, m, test), test)
	mixed := slices.Concat(test, test)
	slices.Reverse(mixed)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if got, _, _ := scores(t, fit(t, m, mixed), test); !slices.Equal(got, want) {
		t.Error("another order, copies or one thread: other scores")
	}
}

// TestLabelsOfTheFolder: labels that the photos happen to have change nothing.
func TestLabelsOfTheFolder(t *testing.T) {
	m := train(t, "plda", draw(2, 1, 0, classes))
	test := draw(3, 40, 0, classes)
	want, _, _ := scores(t, fit(t, m, test), test)
	named := slices.Clone(test)
	for i := range named {
		named[i].Sample.Label, named[i].Sample.Path = fmt.Sprintf("c%d", (i+1)%classes), fmt.Sprint(i)
	}
	if got, _, _ := scores(t, fit(t, m, named), test); !slices.Equal(got, want) {
		t.Error("other labels of the folder, other scores")
	}
}

// TestManyImages: classes of five images stay as they are, beside others that move.
func TestManyImages(t *testing.T) {
	m := train(t, "plda", draw(2, adapt.Thin+1, 0, classes))
	test := draw(3, 40, 0, classes)
	h := fit(t, m, test)
	got, _, _ := scores(t, h, test)
	want, _, _ := scores(t, m.Predictor, test)
	if !slices.Equal(got, want) || h.Moved != 0 || !strings.Contains(h.Note(), "not adapted") {
		t.Errorf("classes of %d images were moved: %s", adapt.Thin+1, h.Note())
	}
	m = train(t, "plda", slices.Concat(draw(2, adapt.Thin+1, 0, classes/2), draw(2, adapt.Thin, classes/2, classes)))
	if h := fit(t, m, test); h.Few != classes/2 || h.Moved == 0 || h.Moved > classes/2 {
		t.Errorf("half of the classes with %d images: %s", adapt.Thin, h.Note())
	}
}

func TestRefusals(t *testing.T) {
	for _, name := range []string{"lda", "ncm"} {
		m := train(t, name, draw(2, 2, 0, classes))
		if _, _, err := adapt.Fit(t.Context(), m, label.Scorer{}, folder{}, t.TempDir()); !errors.Is(err,
			adapt.ErrCannot) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	m := train(t, "plda", draw(2, 1, 0, classes))
	if h := fit(t, m, folder{{Err: errors.New("cut short")}}); h.Moved != 0 || h.Images != 0 {
		t.Errorf("a folder without images: %s", h.Note())
	}
	short := folder{{Sample: dataset.Sample{Path: "a"}, Vector: make([]float32, dim-1)}}
	if _, _, err := adapt.Fit(t.Context(), m, label.Scorer{}, short, t.TempDir()); err == nil ||
		!strings.Contains(err.Error(), "15 dimensions") {
		t.Errorf("%v", err)
	}
}
