package teach

import (
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/label"
)

// Every file leaves, copies too: decided, predicted or set aside.
func TestFiles(t *testing.T) {
	w := newWorld(3, 6)
	s := w.openAt(t, t.TempDir(), "ncm")
	w.name(t, s, 0, 1, 2, 3, 4, 5)
	do(t, s, Decision{Do: Ignore, Images: []ID{w.photos[7].ID}})
	s.Wait()
	copied := w.photos[0]
	copied.Path = "copy.jpg"
	must.Do(t, s.Add([]Photo{copied}, w.vectors[:1]))
	files := s.Files()
	if len(files) != len(w.photos)+1 {
		t.Fatalf("%d files of %d photos", len(files), len(w.photos))
	}
	class := map[string]Exported{}
	for _, f := range files {
		class[f.Path] = f
	}
	of := func(i int) Exported { return class[w.photos[i].Path] }
	truth := w.truth[w.photos[0].ID]
	if a, b := of(0), class["copy.jpg"]; a.Label != truth || a.By != label.Person || b.Label != truth || b.By != a.By {
		t.Errorf("decided %+v, its copy %+v", a, b)
	}
	if f := of(7); f.Label != "" || f.By != label.Person || f.Probability != nil {
		t.Errorf("set aside %+v", f)
	}
	if f := of(8); f.By != "" || f.Novelty == nil || f.Rejected != (f.Label == "") ||
		f.Label != "" && f.Probability == nil {
		t.Errorf("predicted %+v", f)
	}
}
