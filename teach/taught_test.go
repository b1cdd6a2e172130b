package teach

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/embedding/featdir"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/shared"
	"github.com/seed-90d10d51/pipeline/model"
)

// Taught one photo at a time, from five of three classes on and class by class, a
// model is at every moment as accurate as one that is trained on the same labels,
// within a point on average.
func TestTaughtIsAsGoodAsTrained(t *testing.T) {
	t.Run("drawn", func(t *testing.T) {
		w := newWorldOf(20, 80, 40)
		for i := range w.vectors { // so that classes are confused
			for j := range w.vectors[i] {
				w.vectors[i][j] += 2.5 * w.vectors[(i*31+7)%len(w.vectors)][(j+1)%40]
			}
		}
		w.teachAll(t, 20*20)
	})
	t.Run("photos", func(t *testing.T) {
		if os.Getenv("PIPELINE_LONG") == "" {
			t.Skip("set PIPELINE_LONG: it makes 1600 decisions")
		}
		w := world{truth: map[ID]string{}}
		n := 0
		for _, part := range []string{"shots16", "test"} {
			n = len(w.photos)
			w.read(t, shared.Path(t, "data", "clip_vitb32", "caltech101", part), math.MaxInt)
		}
		w.teachAll(t, n)
	})
	t.Run("features", func(t *testing.T) {
		dir := os.Getenv("PIPELINE_FEATURES")
		if dir == "" {
			t.Skip("set PIPELINE_FEATURES to a folder of pipeline embed: it teaches twenty photos of each class")
		}
		w := world{truth: map[ID]string{}}
		w.read(t, dir, 20)
		n := len(w.photos)
		w.read(t, dir, math.MaxInt)
		w.teachAll(t, n)
	})
}

// read adds photos of a feature folder: those that it does not have, at most some of
// each class.
func (w *world) read(t *testing.T, dir string, most int) {
	t.Helper()
	e := must.Get(featdir.Read(dir))(t)
	of := map[string]int{}
	for i, sample := range e.Samples {
		id := ID(e.Content[i])
		if w.truth[id] != "" || of[sample.Label] == most {
			continue
		}
		of[sample.Label]++
		w.photos = append(w.photos, Photo{ID: id, Path: filepath.Base(dir) + "/" + sample.Path})
		w.truth[id] = sample.Label
		w.vectors = append(w.vectors, dense.Row32(e.X, i))
	}
}

// teachAll teaches the first n photos, and compares the accuracy on the others.
func (w world) teachAll(t *testing.T, n int) {
	s := w.openAt(t, t.TempDir(), "plda")
	rows, checks, behind := w.classByClass(n), 0.0, 0.0
	for taught := range rows {
		w.name(t, s, rows[taught])
		s.Wait() // so that fits come when they are due, however busy the machine
		switch taught + 1 {
		case 15, 40, 100, 250, 500, 600, 1000, n:
		default:
			continue
		}
		live, trained := w.right(t, s, n, taught+1)
		t.Logf("%d labels, the last fit of %d: %.1f %% taught, %.1f %% trained", taught+1, s.refit.n, 100*live,
			100*trained)
		checks, behind = checks+1, behind+trained-live
	}
	if behind/checks > 0.01 {
		t.Errorf("%.4f less accurate than trained models", behind/checks)
	}
}

// classByClass returns the first n rows: five of each of three classes in turn, five
// of each other class, then the rest.
func (w world) classByClass(n int) (rows []int) {
	const first = 5
	of := map[string][]int{}
	var classes []string
	for i := range n {
		class := w.truth[w.photos[i].ID]
		if len(of[class]) == 0 {
			classes = append(classes, class)
		}
		of[class] = append(of[class], i)
	}
	for k := range first {
		for _, class := range classes[:3] {
			rows = append(rows, of[class][k])
		}
	}
	for _, class := range classes[3:] {
		rows = append(rows, of[class][:first]...)
	}
	for _, class := range classes {
		rows = append(rows, of[class][first:]...)
	}
	return rows
}

// right returns the share of the photos from n on, of classes with a label, that the
// session predicts right, and that a model that is trained on its labels does.
func (w world) right(t *testing.T, s *Session, n, labels int) (live, trained float64) {
	t.Helper()
	have := s.state.examples()
	if len(have) != labels {
		t.Fatalf("%d examples, want %d", len(have), labels)
	}
	b := must.Get(batch(have, len(w.vectors[0]), s.lockedRow))(t)
	m, _ := must.Get2(model.Train(t.Context(), settings("plda"), b))(t)
	known, total := map[string]bool{}, 0.0
	for _, e := range have {
		known[e.Class] = true
	}
	for i, p := range w.photos[n:] {
		if !known[w.truth[p.ID]] {
			continue
		}
		total++
		if class, _ := s.live.predicted(n + i); class == w.truth[p.ID] {
			live++
		}
		predictions := must.Get(classifier.Predict(m.Predictor, row(w.vectors[n+i]), 1))(t)
		if predictions[0].Label == w.truth[p.ID] {
			trained++
		}
	}
	return live / total, trained / total
}
