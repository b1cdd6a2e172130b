package teach

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/model"
)

// A photo of several things leaves with all its labels and teaches none of them; names follow
// renamed and merged classes, and undo takes it back.
func TestSeveral(t *testing.T) {
	w, dir := newWorld(3, 6), t.TempDir()
	s := w.openAt(t, dir, "ncm")
	w.name(t, s, 0, 1, 2, 3, 4, 5)
	s.Wait()
	several := []ID{w.photos[0].ID, w.photos[6].ID}
	do(t, s, Decision{Do: Several, Images: several, Labels: []string{" owl;fox ", "bee", "owl;fox"}})
	must.Get(s.Accept(0, Query{}))(t)
	for _, c := range s.Classes() {
		if c.Name == "bee" || c.Name == "owl;fox" {
			t.Errorf("%s is a class", c.Name)
		}
	}
	save(t, s)
	m, err := model.Load(s.options.Model)
	if err != nil || m.SampleCount() != 5 || len(m.LearnedAs()(model.Hash(several[0]))) > 0 {
		t.Errorf("learned %d samples, %v", m.SampleCount(), err)
	}
	expect := func(when string, want ...string) {
		t.Helper()
		decided := must.Get(Decided(s.options.Model, m))(t)
		for _, id := range several {
			it, _ := s.Get(id)
			d, ok := decided(id)
			if it.Label != "" || it.By != label.Mixed || !slices.Equal(it.Labels, want) ||
				!ok || d.Class != "" || d.By != label.Person || !slices.Equal(d.Labels, want) {
				t.Errorf("%s it is %v by %s, and commands read %+v", when, it.Labels, it.By, d)
			}
		}
		n := 0
		for _, e := range s.Labels() {
			alone := e.Path == w.photos[12].Path || e.Path == w.photos[13].Path // of one class
			if e.Label == dataset.JoinLabels(want...) && e.By == label.Person && e.Probability == nil && !alone {
				n++
			}
		}
		if n != len(several) {
			t.Errorf("%s %d photos are exported as %s", when, n, dataset.JoinLabels(want...))
		}
	}
	expect("at first", "bee", "owl;fox")
	do(t, s, Decision{Do: Label, Images: []ID{w.photos[12].ID}, Class: "bee"})
	do(t, s, Decision{Do: Rename, Class: "bee", To: "wasp"})
	expect("renamed", "owl;fox", "wasp")
	do(t, s, Decision{Do: Label, Images: []ID{w.photos[13].ID}, Class: "owl;fox"})
	do(t, s, Decision{Do: Merge, Class: "wasp", To: "owl;fox"})
	expect("merged", "owl;fox")
	for range 5 { // with the two names, and accepting
		must.Get(s.Undo())(t)
	}
	if it, _ := s.Get(several[0]); it.By != label.Mixed {
		t.Errorf("after too few undos it is by %s", it.By)
	}
	must.Get(s.Undo())(t)
	if it, _ := s.Get(several[0]); it.Label != w.truth[several[0]] || len(it.Labels) > 0 {
		t.Errorf("after undo it is %q, %v", it.Label, it.Labels)
	}
}

// What is not several names is refused, and so is a journal with a line of that.
func TestSeveralNeedsNames(t *testing.T) {
	w := newWorld(3, 6)
	s := w.openAt(t, t.TempDir(), "ncm")
	images := []ID{w.photos[0].ID}
	many := make([]string, mostLabels+1)
	for i := range many {
		many[i] = strconv.Itoa(i)
	}
	for what, d := range map[string]Decision{
		"no name":       {Do: Several, Images: images},
		"one name":      {Do: Several, Images: images, Labels: []string{"a", " a "}},
		"an empty name": {Do: Several, Images: images, Labels: []string{"a", " "}},
		"a control":     {Do: Several, Images: images, Labels: []string{"a", "b\nc"}},
		"too many":      {Do: Several, Images: images, Labels: many},
		"no photo":      {Do: Several, Labels: many[:2]},
		"a class too":   {Do: Several, Images: images, Labels: many[:2], Class: "a"},
		"a label":       {Do: Label, Images: images, Labels: many[:2], Class: "a"},
		"a rename":      {Do: Rename, Labels: many[:2], Class: "a", To: "b"},
	} {
		if _, err := s.Do(d); !errors.As(err, new(*Refusal)) {
			t.Errorf("%s: %v", what, err)
		}
	}
	j := openedJournal(t, t.TempDir()+"/j")
	must.Get(j.append(Line{Decision: Decision{Do: Start}}))(t)
	if _, err := j.append(Line{Decision: Decision{Do: Several, Images: images}, Classes: many[:1]}); err == nil {
		t.Error("a line with one name was written")
	}
}

// A photo that is forgotten leaves the names to the others, and forgetting a class means the
// photos that show it among others.
func TestSeveralForgotten(t *testing.T) {
	w, dir := newWorld(3, 6), t.TempDir()
	s := w.openAt(t, dir, "ncm")
	w.name(t, s, 0, 1, 2, 3, 4, 5)
	s.Wait()
	a, b := w.photos[6].ID, w.photos[7].ID
	class := w.truth[w.photos[0].ID]
	do(t, s, Decision{Do: Several, Images: []ID{a, b}, Labels: []string{class, "owl"}})
	must.Get2(s.Forget(context.Background(), []ID{a}))(t)
	if it, _ := s.Get(a); it.By != "" {
		t.Errorf("what was forgotten is by %s", it.By)
	}
	if it, _ := s.Get(b); it.By != label.Mixed || len(it.Labels) != 2 {
		t.Errorf("what stays is %v by %s", it.Labels, it.By)
	}
	ids, err := s.PhotosOf([]string{class})
	if err != nil || !slices.Contains(ids, b) {
		t.Errorf("photos of %s without %s: %v, %v", class, b, ids, err)
	}
}
