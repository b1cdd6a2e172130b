package teach

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/model"
)

// trainAt trains the model in a folder on photos of w, by their Class.
func (w world) trainAt(t *testing.T, dir string, rows ...int) {
	t.Helper()
	w.trainMethodAt(t, dir, "plda", rows...)
}

func (w world) trainMethodAt(t *testing.T, dir, name string, rows ...int) {
	t.Helper()
	b := model.Batch{X: blas32.General{Cols: len(w.vectors[0]), Stride: len(w.vectors[0])}}
	for _, i := range rows {
		b.X.Rows, b.X.Data = b.X.Rows+1, append(b.X.Data, w.vectors[i]...)
		b.Labels, b.Content = append(b.Labels, w.photos[i].Class), append(b.Content, model.Hash(w.photos[i].ID))
	}
	m, _ := must.Get2(model.Train(t.Context(), settings(name), b))(t)
	must.Do(t, m.Save(filepath.Join(dir, "m.model")))
}

// A session corrects what a trained model has learned, whether or not that keeps its
// embeddings.
func TestCorrectsATrainedModel(t *testing.T) {
	for _, each := range []int{6, 60} { // kept, and calibrated once for all
		t.Run(fmt.Sprint(each), func(t *testing.T) {
			w := newWorld(6, each)
			for i, p := range w.photos {
				w.photos[i].Class = w.truth[p.ID]
			}
			w.photos[5].Class = "class 1" // it is 5
			dir := t.TempDir()
			w.trainAt(t, dir, upTo(0, len(w.photos))...)
			s := w.openAt(t, dir, "plda")
			s.Wait()
			page, err := s.List(Query{View: Suspicious, Limit: 5})
			if err != nil || len(page.Items) == 0 || page.Items[0].ID != w.photos[5].ID {
				t.Fatalf("suspicious: %+v, %v", page, err)
			}
			w.name(t, s, 5)
			s.Wait()
			save(t, s)
			saved := must.Get(model.Load(filepath.Join(dir, "m.model")))(t)
			for _, c := range saved.ClassSizes() {
				want := each
				if c.Samples != want {
					t.Errorf("%s has %d examples, want %d", c.Name, c.Samples, want)
				}
			}
			must.Do(t, s.Close())
			w.openAt(t, dir, "plda").Wait() // it accepts the model that it saved
		})
	}
}

// TestTheBaseIsReadOnce: a fit needs a copy of the base model, and not its file.
func TestTheBaseIsReadOnce(t *testing.T) {
	w := newWorld(3, 60)
	for i, p := range w.photos {
		w.photos[i].Class = w.truth[p.ID]
	}
	dir := t.TempDir()
	w.trainAt(t, dir, upTo(0, 160)...)
	s := w.openAt(t, dir, "plda")
	s.Wait()
	f := must.Get(os.OpenFile(filepath.Join(dir, "m.model"+baseSuffix), os.O_WRONLY, 0))(t)
	if _, err := f.WriteAt(make([]byte, 64), 0); err != nil { // whoever reads it now gets an error
		t.Fatal(err)
	}
	must.Do(t, f.Close())
	w.name(t, s, 170)
	s.Wait()
	save(t, s)
	m, err := model.Load(filepath.Join(dir, "m.model"))
	if err != nil || m.SampleCount() != 161 {
		t.Errorf("the model has not learned the photo: %v", err)
	}
}

// The classes of a trained model that does not keep its embeddings are renamed and
// merged; they are split where the photos are in the folder. Every saved class has the
// examples that it should have.
func TestRenamesTheClassesOfATrainedModel(t *testing.T) {
	w := newWorld(4, 60)
	for i, p := range w.photos {
		w.photos[i].Class = w.truth[p.ID]
	}
	dir := t.TempDir()
	w.trainAt(t, dir, upTo(0, len(w.photos))...)
	inFolder := w
	inFolder.photos, inFolder.vectors = w.photos[:200], w.vectors[:200]
	s := inFolder.openAt(t, dir, "plda")
	if s.base.complete {
		t.Fatal("the base keeps its embeddings")
	}
	for _, d := range []Decision{
		{Do: Rename, Class: "class 0", To: "tmp"}, // 0 and 1 change their names
		{Do: Rename, Class: "class 1", To: "class 0"},
		{Do: Rename, Class: "tmp", To: "class 1"},
		{Do: Merge, Class: "class 2", To: "class 3"},
		{Do: Label, Images: []ID{w.photos[0].ID, w.photos[4].ID, w.photos[8].ID}, Class: "split"},
	} {
		do(t, s, d)
	}
	s.Wait()
	must.Do(t, s.Status().Problem)
	save(t, s)
	m := must.Get(model.Load(s.options.Model))(t)
	sizes := map[string]int{}
	for _, c := range m.ClassSizes() {
		sizes[c.Name] = c.Samples
	}
	if want := map[string]int{"class 0": 60, "class 1": 57, "class 3": 120, "split": 3}; !maps.Equal(sizes, want) {
		t.Errorf("classes %v, want %v", sizes, want)
	}
	for i, want := range map[int]string{12: "class 1", 13: "class 0", 14: "class 3", 15: "class 3"} {
		if it, _ := s.Get(w.photos[i].ID); it.Label != want || it.Top[0].Label != want {
			t.Errorf("photo %d is labelled %s and predicted %s, want %s", i, it.Label, it.Top[0].Label, want)
		}
	}
	if _, err := s.Do(Decision{Do: Label, Images: []ID{w.photos[220].ID}, Class: "split"}); !refused(err, Conflict) {
		t.Errorf("a photo without an embedding: %v", err)
	}
}

// A method that cannot merge two classes without their embeddings says so.
func TestRefusesToMergeWithoutEmbeddings(t *testing.T) {
	w := newWorld(3, 60)
	for i, p := range w.photos {
		w.photos[i].Class = w.truth[p.ID]
	}
	dir := t.TempDir()
	w.trainMethodAt(t, dir, "ppca", upTo(0, len(w.photos))...)
	s := w.openAt(t, dir, "ppca")
	if _, err := s.Do(Decision{Do: Merge, Class: "class 0", To: "class 1"}); !refused(err, Conflict) {
		t.Errorf("merge: %v", err)
	}
	do(t, s, Decision{Do: Rename, Class: "class 0", To: "a"})
	do(t, s, Decision{Do: Label, Images: []ID{w.photos[0].ID}, Class: "class 1"})
	s.Wait()
	save(t, s)
	if st := s.Status(); st.Problem != nil || !slices.Contains(s.live.Classes(), "a") {
		t.Errorf("rename: %v, classes %v", st.Problem, s.live.Classes())
	}
}

func TestRefusesAModelThatAnotherCommandChanged(t *testing.T) {
	w := newWorld(3, 10)
	dir := t.TempDir()
	s := w.openAt(t, dir, "plda")
	w.name(t, s, upTo(0, 9)...)
	save(t, s)
	m := must.Get(model.Load(s.options.Model))(t)
	must.Do(t, s.Close())
	must.Do(t, m.Predictor.Forget("class 0"))
	m.Sessions[0].Samples = slices.DeleteFunc(m.Sessions[0].Samples,
		func(id model.SampleID) bool { return id.Class == "class 0" })
	m.Sessions[0].NewClasses = m.Sessions[0].NewClasses[1:]
	must.Do(t, m.Save(s.options.Model))
	if s, err := Open(s.options); err == nil {
		s.Close()
		t.Error("a model that was changed was accepted")
	}
}
