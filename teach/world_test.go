package teach

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
)

const dim = 12

// A world has photos of classes whose embeddings are normally distributed around a
// mean of their own.
type world struct {
	photos  []Photo
	vectors [][]float32
	truth   map[ID]string
}

func newWorld(classes, each int) world { return newWorldOf(classes, each, dim) }

func newWorldOf(classes, each, d int) world {
	w := world{truth: map[ID]string{}}
	rng := random.Stream(1, "world")
	means := make([][]float64, classes)
	for c := range means {
		for range d {
			means[c] = append(means[c], 2*rng.NormFloat64())
		}
	}
	for i := range classes * each {
		c := i % classes
		var id ID
		id[0], id[1], id[2] = byte(i), byte(i>>8), byte(i>>16)
		id[31] = 7
		v := make([]float32, d)
		for j := range v {
			v[j] = float32(means[c][j] + rng.NormFloat64())
		}
		w.photos = append(w.photos,
			Photo{ID: id, Path: fmt.Sprintf("cam%d/%05d.jpg", c%2, i), Changed: time.Unix(int64(86400*i), 0)})
		w.vectors = append(w.vectors, v)
		w.truth[id] = fmt.Sprintf("class %d", c)
	}
	return w
}

func settings(name string) model.Settings {
	return model.Settings{Method: name, Heads: method.DefaultConfig(), ToolVersion: "test"}
}

func fresh(t testing.TB, name string) *model.Model {
	t.Helper()
	return must.Get(model.New(settings(name)))(t)
}

// openAt opens the session of a model in a folder, with the photos of w.
func (w world) openAt(t testing.TB, dir, name string) *Session {
	t.Helper()
	clock := time.Unix(0, 0)
	s := must.Get(Open(Options{
		Model: filepath.Join(dir, "m.model"), Fresh: fresh(t, name), Dim: len(w.vectors[0]), Temp: dir,
		ToolVersion: "test",
		Now:         func() time.Time { clock = clock.Add(time.Second); return clock }}))(t)
	t.Cleanup(func() { s.Close() })
	must.Do(t, s.Add(w.photos, w.vectors))
	return s
}

func do(t testing.TB, s *Session, d Decision) Line {
	t.Helper()
	return must.Get(s.Do(d))(t)
}

// name labels photos, each alone, with their class.
func (w world) name(t testing.TB, s *Session, rows ...int) {
	t.Helper()
	for _, i := range rows {
		id := w.photos[i].ID
		do(t, s, Decision{Do: Label, Images: []ID{id}, Class: w.truth[id]})
	}
}

func (w world) accuracy(t testing.TB, s *Session) float64 {
	t.Helper()
	right := 0
	for _, p := range w.photos {
		it, ok := s.Get(p.ID)
		if !ok || len(it.Top) == 0 {
			t.Fatalf("photo %s is not scored", p.ID)
		}
		if it.Top[0].Label == w.truth[p.ID] {
			right++
		}
	}
	return float64(right) / float64(len(w.photos))
}

func save(t testing.TB, s *Session) []byte {
	t.Helper()
	must.Get(s.Save(context.Background()))(t)
	return must.Get(os.ReadFile(s.options.Model))(t)
}

// agrees checks the scores against those of the live model.
func (w world) agrees(t *testing.T, s *Session) {
	t.Helper()
	for i, p := range w.photos {
		it, _ := s.Get(p.ID)
		want := must.Get(s.Score(row(w.vectors[i]), topClasses))(t)
		if it.Top[0].Label != want[0].Label || math.Abs(it.Top[0].Probability-want[0].Probability) > 1e-4 {
			t.Errorf("photo %d: %+v in the list, %+v by the model", i, it.Top[0], want[0].TopK[0])
		}
		if it.Unknown != want[0].Unknown || math.Abs(it.Novelty-want[0].Novelty) > 1e-3*(1+math.Abs(it.Novelty)) {
			t.Errorf("photo %d: novelty %v (%v) in the list, %v (%v) by the model", i, it.Novelty, it.Unknown,
				want[0].Novelty, want[0].Unknown)
		}
	}
}

func row(v []float32) blas32.General {
	return blas32.General{Rows: 1, Cols: len(v), Stride: len(v), Data: v}
}

func everything(t *testing.T, s *Session) []Item {
	t.Helper()
	p := must.Get(s.List(Query{View: Check, Limit: 1000}))(t)
	return p.Items
}

func names(items []Item) (out []string) {
	for _, it := range items {
		out = append(out, it.Path+" "+it.Top[0].Label)
	}
	return out
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b := must.Get(os.ReadFile(from))(t)
	must.Do(t, os.WriteFile(to, b, 0o600))
}

func upTo(first, last int) (out []int) {
	for i := first; i < last; i++ {
		out = append(out, i)
	}
	return out
}

// labels returns all decided labels as text.
func (s *Session) labels() (out []string) {
	for _, l := range s.Labels() {
		out = append(out, l.Path+"="+l.Label+" "+string(l.By))
	}
	return out
}

// sameCounts compares lists of classes and labels; classes may come in another order,
// and predictions may differ by rounding and by fits in between.
func sameCounts(a, b string) bool { return sortedLabels(a) == sortedLabels(b) }

func sortedLabels(text string) string { return text[bytes.LastIndexByte([]byte(text), '['):] }
