package teach

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/model"
)

// words returns texts of the classes of w, each near the mean of its photos.
func (w world) words(t *testing.T) *gauss.Words {
	t.Helper()
	texts := map[string][]float32{}
	for i, p := range w.photos {
		class := w.truth[p.ID]
		if texts[class] == nil {
			texts[class] = make([]float32, dim)
		}
		for j, v := range w.vectors[i] {
			texts[class][j] += v
		}
	}
	return must.Get(gauss.NewWords(texts))(t)
}

// TestTeachingFromNames: a model of names labels photos before the first decision and after
// each, and goes on with names and photos.
func TestTeachingFromNames(t *testing.T) {
	w := newWorld(4, 30)
	set := settings("plda")
	set.Words = w.words(t)
	m := must.Get(model.New(set))(t)
	dir, clock := t.TempDir(), time.Unix(0, 0)
	s := must.Get(Open(Options{
		Model: filepath.Join(dir, "m.model"), Fresh: m, Dim: dim, Temp: dir, ToolVersion: "test",
		Now: func() time.Time { clock = clock.Add(time.Second); return clock }}))(t)
	t.Cleanup(func() { s.Close() })
	must.Do(t, s.Add(w.photos, w.vectors))
	check := func(taught int) {
		t.Helper()
		s.Wait()
		if st := s.Status(); !st.Ready || len(s.Classes()) != 4 {
			t.Fatalf("%d photos taught: %+v, classes %+v", taught, st, s.Classes())
		}
		if got := w.accuracy(t, s); got < 0.9 {
			t.Errorf("%d photos taught: accuracy %v", taught, got)
		}
	}
	check(0)
	for i := range 9 {
		w.name(t, s, i)
		check(i + 1)
	}
	saved := s.base.model.SampleCount()
	must.Get(s.Save(t.Context()))(t)
	if saved != 0 || s.base.file == "" {
		t.Errorf("the base model has %d photos", saved)
	}
	check(9)
}
