package teach

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/model"
)

// Two named photos make a model, and a decision is in the scores when Do returns: they
// are those of the model.
func TestTeachingFromNothing(t *testing.T) {
	for _, name := range []string{"plda", "lda", "ncm"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(4, 30)
			s := w.openAt(t, t.TempDir(), name)
			if st := s.Status(); st.Ready || st.Account.Next.Do != "start" {
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
	must.Get(s.Accept(0.3, Query{}))(t)
	for range 3 {
		must.Get(s.Undo())(t)
	}
	must.Get(s.Redo())(t)
	must.Get(s.Teach([]ID{{9}}, [][]float32{w.vectors[40]}, "class 0"))(t)
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
	trained, _ := must.Get2(model.Train(context.Background(), settings("plda"), b))(t)
	file := filepath.Join(t.TempDir(), "t")
	must.Do(t, trained.Save(file))
	if got, _ := os.ReadFile(file); !bytes.Equal(got, want) {
		t.Error("training on the labels gives another model")
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
		func() error { _, err := s.Accept(0.5, Query{}); return err },
		func() error { _, err := s.Teach([]ID{{1, 2, 3}}, [][]float32{w.vectors[30]}, "class 1"); return err },
	} {
		before := fmt.Sprint(s.Classes(), s.labels())
		must.Do(t, make())
		after := fmt.Sprint(s.Classes(), s.labels())
		if after == before {
			t.Errorf("%s changes nothing", s.Status().Undo)
		}
		must.Get(s.Undo())(t)
		if got := fmt.Sprint(s.Classes(), s.labels()); !sameCounts(got, before) {
			t.Errorf("undo of %s:\n%s, want\n%s", s.Status().Redo, got, before)
		}
		must.Get(s.Redo())(t)
		if got := fmt.Sprint(s.Classes(), s.labels()); !sameCounts(got, after) {
			t.Errorf("redo of %s:\n%s, want\n%s", s.Status().Undo, got, after)
		}
	}
	for s.Status().Undo != "" {
		must.Get(s.Undo())(t)
	}
	if _, err := s.Undo(); !refused(err, Conflict) {
		t.Errorf("undo of nothing: %v", err)
	}
	s.Wait()
	if s.Status().Ready {
		t.Error("there is a model without labels")
	}
}

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
