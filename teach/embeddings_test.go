package teach

import (
	"bufio"
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/model"
)

// withoutEmbeddings removes the embeddings from the journal in a folder, as journals of 0.2.0 lack them
// of what was set aside.
func withoutEmbeddings(t *testing.T, dir string) {
	t.Helper()
	file := filepath.Join(dir, "m.model"+journalSuffix)
	var out bytes.Buffer
	lines := bufio.NewScanner(bytes.NewReader(read(t, file)))
	for lines.Scan() {
		var l Line
		must.Do(t, json.Unmarshal(lines.Bytes(), &l))
		l.Embeddings = nil
		text := must.Get(json.Marshal(l))(t)
		out.Write(append(text, '\n'))
	}
	write(t, file, out.Bytes())
}

// TestSuppliesEmbeddings: a journal that lacks embeddings gets them from the folder or from elsewhere,
// and says which photo it needs where there is none; then undo helps.
func TestSuppliesEmbeddings(t *testing.T) {
	for _, d := range []Decision{{Do: Ignore}, {Do: Skip}, {Do: Several, Labels: []string{"bee", "fox"}},
		{Do: Label, Class: "class 1"}} {
		t.Run(string(d.Do), func(t *testing.T) {
			w, s := photoOrigins()["learned"].begun(t, forgets)
			dir, file := filepath.Dir(s.options.Model), s.options.Model
			d.Images = []ID{w.photos[0].ID, w.photos[3].ID}
			do(t, s, d)
			must.Do(t, s.Close())
			withoutEmbeddings(t, dir)
			none := world{vectors: w.vectors}
			s = none.openAt(t, dir, "plda")
			s.Wait()
			_, err := s.Save(t.Context())
			for _, said := range []string{"line 3", w.photos[0].ID.String(), "1 other", "put the photo back"} {
				if err == nil || !refused(err, Conflict) || !strings.Contains(err.Error(), said) {
					t.Errorf("saved without embeddings: %v, want %q", err, said)
				}
			}
			must.Get(s.Undo())(t)
			hasSaved(t, s, "undone")
			must.Get(s.Redo())(t)
			journal, saved := read(t, file+journalSuffix), read(t, file)
			for from, open := range map[string]func() *Session{
				"the folder": func() *Session { return w.openAt(t, dir, "plda") },
				"elsewhere":  func() *Session { return w.openCached(t, dir) },
			} {
				must.Do(t, s.Close())
				write(t, file+journalSuffix, journal)
				write(t, file, saved)
				s = open()
				hasSaved(t, s, "with "+from)
				must.Do(t, s.Close())
				s = none.openAt(t, dir, "plda")
				hasSaved(t, s, "afterwards, with "+from)
			}
		})
	}
}

// openCached opens the session in a folder, which finds no photos but a cache.
func (w world) openCached(t *testing.T, dir string) *Session {
	t.Helper()
	s := must.Get(Open(Options{Model: filepath.Join(dir, "m.model"), Dim: dim, Temp: dir,
		Elsewhere: func(_ embedding.Provenance, ids []ID) map[ID][]float32 {
			out := map[ID][]float32{}
			for i, p := range w.photos {
				out[p.ID] = w.vectors[i]
			}
			return out
		}}))(t)
	t.Cleanup(func() { s.Close() })
	return s
}

// Two copies of a photo that the base model learned as two classes are one example once the classes are
// one: what a model unlearns then is all of it.
func TestClassesThatShareAPhotoBecomeOne(t *testing.T) {
	w, s := photoOrigins()["learned twice"].begun(t, forgets)
	do(t, s, Decision{Do: Merge, Class: "class 0", To: "class 1"})
	hasSaved(t, s, "merged")
	do(t, s, Decision{Do: Ignore, Images: []ID{w.photos[0].ID}})
	hasSaved(t, s, "ignored")
	got := must.Get(model.Load(s.options.Model))(t)
	never, sNever := photoOrigins()["learned"].begun(t, forgets)
	do(t, sNever, Decision{Do: Merge, Class: "class 0", To: "class 1"})
	do(t, sNever, Decision{Do: Ignore, Images: []ID{never.photos[0].ID}})
	hasSaved(t, sNever, "ignored")
	if want := len(sNever.state.examples()); got.SampleCount() != want {
		t.Errorf("%d samples, want %d", got.SampleCount(), want)
	}
}
