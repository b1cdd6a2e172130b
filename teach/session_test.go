package teach

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/internal/random"
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
	m, err := model.New(settings(name))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// openAt opens the session of a model in a folder, with the photos of w.
func (w world) openAt(t testing.TB, dir, name string) *Session {
	t.Helper()
	clock := time.Unix(0, 0)
	s, err := Open(Options{
		Model: filepath.Join(dir, "m.model"), Fresh: fresh(t, name), Dim: len(w.vectors[0]), Temp: dir,
		ToolVersion: "test",
		Now:         func() time.Time { clock = clock.Add(time.Second); return clock }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := s.Add(w.photos, w.vectors); err != nil {
		t.Fatal(err)
	}
	return s
}

func do(t testing.TB, s *Session, d Decision) Line {
	t.Helper()
	l, err := s.Do(d)
	if err != nil {
		t.Fatal(err)
	}
	return l
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
	if _, err := s.Save(context.Background()); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(s.options.Model)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Two named photos make a model, and a decision is in the scores when Do returns: they
// are those of the model.
func TestTeachingFromNothing(t *testing.T) {
	for _, name := range []string{"plda", "lda", "ncm"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(4, 30)
			s := w.openAt(t, t.TempDir(), name)
			if st := s.Status(); st.Ready || st.Advice.Do != "start" {
				t.Errorf("status at the start: %+v", st)
			}
			page, err := s.List(Query{View: Typical, Limit: 8})
			if err != nil || len(page.Items) != 8 {
				t.Fatalf("%d typical photos, %v", len(page.Items), err)
			}
			for i := range 40 {
				w.name(t, s, i)
				if i == 8 || name == "ncm" {
					s.Wait() // the first model is a fit, and ncm learns only by fits
				}
			}
			if got := w.accuracy(t, s); got < 0.95 {
				t.Errorf("accuracy %v", got)
			}
			s.Wait()
			w.agrees(t, s)
		})
	}
}

// A decision leaves the summary of every photo as if all had been scored again.
func TestScoresWhatChanged(t *testing.T) {
	w := newWorld(5, 40)
	s := w.openAt(t, t.TempDir(), "plda")
	w.name(t, s, upTo(0, 20)...)
	s.Wait()
	for i, d := range []Decision{
		{Do: Label, Images: []ID{w.photos[20].ID}, Class: "class 0"},
		{Do: Label, Images: []ID{w.photos[21].ID}, Class: "new"},
		{Do: Label, Images: []ID{w.photos[21].ID}, Class: "class 1"}, // and new vanishes
		{Do: Rename, Class: "class 3", To: "c"},
		{Do: Label, Images: []ID{w.photos[0].ID}, Class: "class 2"},
	} {
		do(t, s, d)
		sc := s.live.scores
		for k := range sc.len() {
			kept := sc.photos[k]
			sc.summarise(k)
			made := sc.photos[k]
			differs := func(a, b float32) bool { return math.Abs(float64(a-b)) > 1e-6 }
			if kept.first != made.first || kept.novelty != made.novelty ||
				differs(kept.prob, made.prob) || differs(kept.runner, made.runner) {
				t.Errorf("decision %d: photo %d has %+v; made from all scores %+v", i, k, kept, made)
			}
		}
	}
}

// agrees checks the scores against those of the live model.
func (w world) agrees(t *testing.T, s *Session) {
	t.Helper()
	for i, p := range w.photos {
		it, _ := s.Get(p.ID)
		want, unknown, err := s.Score(row(w.vectors[i]), topClasses)
		if err != nil {
			t.Fatal(err)
		}
		if it.Top[0].Label != want[0].Label || math.Abs(it.Top[0].Probability-want[0].Probability) > 1e-4 {
			t.Errorf("photo %d: %+v in the list, %+v by the model", i, it.Top[0], want[0].TopK[0])
		}
		if it.Unknown != unknown[0] || math.Abs(it.Novelty-want[0].Novelty) > 1e-3*(1+math.Abs(it.Novelty)) {
			t.Errorf("photo %d: novelty %v (%v) in the list, %v (%v) by the model", i, it.Novelty, it.Unknown,
				want[0].Novelty, unknown[0])
		}
	}
}

func row(v []float32) blas32.General {
	return blas32.General{Rows: 1, Cols: len(v), Stride: len(v), Data: v}
}

// A journal that is read again gives the same model, byte for byte, the same order of
// photos, and the same as training on the labels.
func TestReplayEqualsLive(t *testing.T) {
	w := newWorld(5, 20)
	dir := t.TempDir()
	s := w.openAt(t, dir, "plda")
	for i := range 30 {
		w.name(t, s, i)
	}
	do(t, s, Decision{Do: Label, Images: []ID{w.photos[31].ID, w.photos[36].ID}, Class: "class 0"}) // wrong
	do(t, s, Decision{Do: Rename, Class: "class 1", To: "b"})
	do(t, s, Decision{Do: Merge, Class: "class 2", To: "class 3"})
	do(t, s, Decision{Do: Unlabel, Images: []ID{w.photos[0].ID}})
	s.Wait()
	if _, err := s.Accept(0.3, ""); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := s.Undo(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Redo(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Teach([]ID{{9}}, [][]float32{w.vectors[40]}, "class 0"); err != nil {
		t.Fatal(err)
	}
	s.Wait()
	want := save(t, s)
	live := everything(t, s)
	again := t.TempDir()
	for _, suffix := range []string{journalSuffix, baseSuffix} {
		copyFile(t, filepath.Join(dir, "m.model"+suffix), filepath.Join(again, "m.model"+suffix))
	}
	replayed := w.openAt(t, again, "plda")
	replayed.Wait()
	if got := everything(t, replayed); !slices.Equal(names(got), names(live)) {
		t.Errorf("photos in order after a replay: %v\nlive: %v", names(got), names(live))
	}
	if !bytes.Equal(save(t, replayed), want) {
		t.Error("the replay saves another model")
	}

	var b model.Batch
	b.X.Cols, b.X.Stride = dim, dim
	for _, e := range s.state.examples() {
		b.X.Rows, b.X.Data = b.X.Rows+1, append(b.X.Data, s.row(ID(e.Content))...)
		b.Labels, b.Content = append(b.Labels, e.Class), append(b.Content, e.Content)
	}
	trained, _, err := model.Train(context.Background(), settings("plda"), b)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "t")
	if err := trained.Save(file); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(file); !bytes.Equal(got, want) {
		t.Error("training on the labels gives another model")
	}
}

func everything(t *testing.T, s *Session) []Item {
	t.Helper()
	p, err := s.List(Query{View: Check, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
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
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Undo takes back each kind of decision, and Redo makes it again.
func TestUndoOfEverything(t *testing.T) {
	w := newWorld(3, 20)
	s := w.openAt(t, t.TempDir(), "plda")
	w.name(t, s, upTo(0, 18)...)
	s.Wait() // the first fit knows a few photos only, and its model is rightly unsure of all
	for _, make := range []func() error{
		func() error {
			_, err := s.Do(Decision{Do: Label, Images: []ID{w.photos[20].ID}, Class: "new"})
			return err
		},
		func() error {
			_, err := s.Do(Decision{Do: Label, Images: []ID{w.photos[0].ID}, Class: "class 1"})
			return err
		},
		func() error { _, err := s.Do(Decision{Do: Unlabel, Images: []ID{w.photos[1].ID}}); return err },
		func() error { _, err := s.Do(Decision{Do: Rename, Class: "class 0", To: "a"}); return err },
		func() error { _, err := s.Do(Decision{Do: Merge, Class: "a", To: "class 2"}); return err },
		func() error { _, err := s.Accept(0.5, ""); return err },
		func() error { _, err := s.Teach([]ID{{1, 2, 3}}, [][]float32{w.vectors[30]}, "class 1"); return err },
	} {
		before := fmt.Sprint(s.Classes(), s.labels())
		if err := make(); err != nil {
			t.Fatal(err)
		}
		after := fmt.Sprint(s.Classes(), s.labels())
		if after == before {
			t.Errorf("%s changes nothing", s.Status().Undo)
		}
		if _, err := s.Undo(); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(s.Classes(), s.labels()); !sameCounts(got, before) {
			t.Errorf("undo of %s:\n%s, want\n%s", s.Status().Redo, got, before)
		}
		if _, err := s.Redo(); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(s.Classes(), s.labels()); !sameCounts(got, after) {
			t.Errorf("redo of %s:\n%s, want\n%s", s.Status().Undo, got, after)
		}
	}
	for s.Status().Undo != "" {
		if _, err := s.Undo(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Undo(); !refused(err, Conflict) {
		t.Errorf("undo of nothing: %v", err)
	}
	s.Wait()
	if s.Status().Ready {
		t.Error("there is a model without labels")
	}
}

func upTo(first, last int) (out []int) {
	for i := first; i < last; i++ {
		out = append(out, i)
	}
	return out
}

// labels returns all decided labels as text.
func (s *Session) labels() (out []string) {
	_ = s.Labels(func(path, label string, by By) error {
		out = append(out, path+"="+label+" "+string(by))
		return nil
	})
	return out
}

// sameCounts compares lists of classes and labels; classes may come in another order,
// and predictions may differ by rounding and by fits in between.
func sameCounts(a, b string) bool { return sortedLabels(a) == sortedLabels(b) }

func sortedLabels(text string) string { return text[bytes.LastIndexByte([]byte(text), '['):] }

func TestRefusals(t *testing.T) {
	w := newWorld(3, 10)
	s := w.openAt(t, t.TempDir(), "plda")
	w.name(t, s, upTo(0, 9)...)
	for _, c := range []struct {
		d    Decision
		want Reason
	}{
		{Decision{Do: Label, Images: []ID{{200}}, Class: "x"}, Unknown},
		{Decision{Do: Label, Class: "x"}, Invalid},
		{Decision{Do: Label, Images: []ID{w.photos[0].ID}, Class: " "}, Invalid},
		{Decision{Do: Label, Images: []ID{w.photos[0].ID}, Class: "a\x00b"}, Invalid},
		{Decision{Do: Unlabel, Images: []ID{w.photos[20].ID}}, Conflict},
		{Decision{Do: Rename, Class: "nobody", To: "x"}, Unknown},
		{Decision{Do: Rename, Class: "class 0", To: "class 1"}, Conflict},
		{Decision{Do: Rename, Class: "class 0", To: "class 0"}, Conflict},
		{Decision{Do: Merge, Class: "class 0", To: "x"}, Unknown},
		{Decision{Do: Undo}, Invalid},
	} {
		if _, err := s.Do(c.d); !refused(err, c.want) {
			t.Errorf("%+v: %v", c.d, err)
		}
	}
	if got := s.Status().Seq; got > 1+9+10 {
		t.Errorf("the journal has %d lines", got)
	}
}

// Forget leaves no trace of a photo in the journal, and the model is that of a session
// that never saw it.
func TestForget(t *testing.T) {
	w := newWorld(3, 20)
	dir, other := t.TempDir(), t.TempDir()
	s, never := w.openAt(t, dir, "plda"), w.openAt(t, other, "plda")
	w.name(t, s, upTo(0, 20)...)
	w.name(t, never, upTo(1, 20)...)
	gone := w.photos[0].ID
	if n, left, err := s.Forget(t.Context(), []ID{gone, {77}}); n != 1 || len(left) == 0 || err != nil {
		t.Errorf("forgot %d, left %v, %v", n, left, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "m.model"+journalSuffix))
	if err != nil || bytes.Contains(text, []byte(gone.String())) {
		t.Errorf("the journal names the photo, %v", err)
	}
	if !bytes.Equal(save(t, s), save(t, never)) {
		t.Error("the model is another than one that never saw the photo")
	}
	w.name(t, s, 25)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again := w.openAt(t, dir, "plda")
	if n := again.Status().Person; n != 20 {
		t.Errorf("%d labels after reading the journal again, want 20", n)
	}
}

// trainAt trains the model in a folder on photos of w, by their Class.
func (w world) trainAt(t *testing.T, dir string, rows ...int) {
	t.Helper()
	w.trainMethodAt(t, dir, "plda", rows...)
}

func (w world) trainMethodAt(t *testing.T, dir, name string, rows ...int) {
	t.Helper()
	b := model.Batch{X: blas32.General{Cols: dim, Stride: dim}}
	for _, i := range rows {
		b.X.Rows, b.X.Data = b.X.Rows+1, append(b.X.Data, w.vectors[i]...)
		b.Labels, b.Content = append(b.Labels, w.photos[i].Class), append(b.Content, model.Hash(w.photos[i].ID))
	}
	m, _, err := model.Train(t.Context(), settings(name), b)
	if err == nil {
		err = m.Save(filepath.Join(dir, "m.model"))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// What the base model learned is forgotten there too, if it keeps its embeddings, and
// the session can be opened when it was killed before the base was replaced.
func TestForgetsWhatTheBaseLearned(t *testing.T) {
	w := newWorld(3, 20)
	for i, p := range w.photos {
		w.photos[i].Class = w.truth[p.ID]
	}
	dir, other := t.TempDir(), t.TempDir()
	w.trainAt(t, dir, upTo(0, 24)...)
	w.trainAt(t, other, upTo(1, 24)...)
	s, never := w.openAt(t, dir, "plda"), w.openAt(t, other, "plda")
	for _, s := range []*Session{s, never} {
		w.name(t, s, 30, 31)
		save(t, s)
	}
	if n, _, err := s.Forget(t.Context(), []ID{w.photos[0].ID}); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	for _, suffix := range []string{"", baseSuffix} {
		got, err := os.ReadFile(filepath.Join(dir, "m.model"+suffix))
		want, wanted := os.ReadFile(filepath.Join(other, "m.model"+suffix))
		if err = errors.Join(err, wanted); err != nil || !bytes.Equal(got, want) {
			t.Errorf("m.model%s is not that of a session that never saw the photo, %v", suffix, err)
		}
	}
	if _, err := os.Stat(s.options.Model + ".prev"); err == nil {
		t.Error("the version before is still there")
	}
	if err := s.journal.rebase(s.base.model.SHA256(), "of the next base"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	w.openAt(t, dir, "plda").Wait()
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
			saved, err := model.Load(filepath.Join(dir, "m.model"))
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range saved.ClassSizes() {
				want := each
				if c.Samples != want {
					t.Errorf("%s has %d examples, want %d", c.Name, c.Samples, want)
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			w.openAt(t, dir, "plda").Wait() // it accepts the model that it saved
		})
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
	if problem := s.Status().Problem; problem != nil {
		t.Fatal(problem)
	}
	save(t, s)
	m, err := model.Load(s.options.Model)
	if err != nil {
		t.Fatal(err)
	}
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
	m, err := model.Load(s.options.Model)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := m.Predictor.Forget("class 0"); err != nil {
		t.Fatal(err)
	}
	m.Sessions[0].Samples = slices.DeleteFunc(m.Sessions[0].Samples,
		func(id model.SampleID) bool { return id.Class == "class 0" })
	m.Sessions[0].NewClasses = m.Sessions[0].NewClasses[1:]
	if err := m.Save(s.options.Model); err != nil {
		t.Fatal(err)
	}
	if s, err := Open(s.options); err == nil {
		s.Close()
		t.Error("a model that was changed was accepted")
	}
}

// Pages of a view are all of its photos, once.
func TestPages(t *testing.T) {
	w := newWorld(3, 40)
	s := w.openAt(t, t.TempDir(), "plda")
	w.name(t, s, upTo(0, 12)...)
	s.Wait()
	for _, q := range []Query{{View: All}, {View: Check}, {View: OfClass, Class: "class 1"},
		{View: All, Folder: "cam1"}, {View: All, Text: "0001"}} {
		seen := map[ID]bool{}
		q.Limit = 7
		total := 0
		for {
			p, err := s.List(q)
			if err != nil {
				t.Fatal(err)
			}
			total = p.Total
			for _, it := range p.Items {
				if seen[it.ID] {
					t.Errorf("%+v: %s comes twice", q, it.Path)
				}
				seen[it.ID] = true
			}
			if q.After = p.Next; q.After == "" {
				break
			}
		}
		if len(seen) != total || total == 0 {
			t.Errorf("%+v: %d of %d photos", q, len(seen), total)
		}
	}
}

// Unknown photos are grouped by what they show.
func TestGroups(t *testing.T) {
	w := newWorld(6, 40)
	s := w.openAt(t, t.TempDir(), "plda")
	for i := range 160 {
		if c := i % 6; c < 4 {
			w.name(t, s, i)
		}
	}
	s.Wait()
	s.Groups(10, 3)
	s.Wait()
	groups, _ := s.Groups(10, 3)
	if len(groups) < 2 {
		t.Fatalf("%d groups", len(groups))
	}
	for _, g := range groups[:2] {
		p, err := s.List(Query{View: Novel, Group: g.ID, Limit: 500})
		if err != nil || p.Total == 0 {
			t.Fatal(p, err)
		}
		counts := map[string]int{}
		for _, it := range p.Items {
			counts[w.truth[it.ID]]++
		}
		if len(counts) != 1 {
			t.Errorf("a group mixes %v", counts)
		}
	}
	// A group stays what it was when the groups are computed again, until it is
	// forgotten; its ID never names other photos.
	old := groups[0]
	members := func() (ids []ID, err error) {
		p, err := s.List(Query{View: All, Group: old.ID, Limit: 500})
		for _, it := range p.Items {
			ids = append(ids, it.ID)
		}
		return ids, err
	}
	want, err := members()
	if err != nil || len(want) == 0 {
		t.Fatal(want, err)
	}
	for k := range keptGroupings {
		w.name(t, s, 160+k)
		s.Groups(10, 3)
		s.Wait()
		if again, _ := s.Groups(10, 3); len(again) == 0 || again[0].ID <= old.ID {
			t.Fatalf("groups %v follow group %d", again, old.ID)
		}
		got, err := members()
		switch forgotten := k == keptGroupings-1; {
		case forgotten && !refused(err, Conflict):
			t.Errorf("a forgotten group: %d photos, %v", len(got), err)
		case !forgotten && !slices.Equal(got, want):
			t.Errorf("after %d regroupings the group has %d photos, %v; it had %d", k+1, len(got), err, len(want))
		}
	}
}

// A file that changes or vanishes changes the list.
func TestFilesChange(t *testing.T) {
	w := newWorld(2, 4)
	s := w.openAt(t, t.TempDir(), "plda")
	copied := w.photos[0]
	copied.Path = "copy.jpg"
	changed := Photo{ID: ID{99}, Path: w.photos[1].Path}
	if err := s.Add([]Photo{copied, changed}, [][]float32{w.vectors[0], w.vectors[2]}); err != nil {
		t.Fatal(err)
	}
	if it, _ := s.Get(copied.ID); it.Copies != 1 {
		t.Errorf("%+v", it)
	}
	if _, ok := s.Get(w.photos[1].ID); ok {
		t.Error("the content that was replaced is still listed")
	}
	s.Remove([]string{w.photos[0].Path})
	if it, ok := s.Get(copied.ID); !ok || it.Path != "copy.jpg" {
		t.Errorf("%+v", it)
	}
	s.Remove([]string{"copy.jpg"})
	if p, err := s.List(Query{View: All, Limit: 100}); err != nil || p.Total != 7 {
		t.Errorf("%d photos, %v", p.Total, err)
	}
}
