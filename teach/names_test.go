package teach

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/model"
)

// listedAs returns the class that a photo gets which a list says to be of a class, and that which it
// shows among others.
func (s *state) listedAs(t *testing.T, class string) string {
	t.Helper()
	l, _, err := s.imported(model.Batch{Labels: []string{class}, Content: []model.Hash{{'1'}}, Paths: []string{"1"}},
		[]Aside{{Content: model.Hash{'2'}, Path: "2", Labels: []string{class, "~"}}}, "", ConflictsError{})
	if err != nil {
		t.Fatal(err)
	}
	if among := l.Shows[ID{'2'}][0]; among != l.Classes[0] {
		t.Errorf("%s is %s alone, and %s among others", class, l.Classes[0], among)
	}
	return l.Classes[0]
}

// What a list calls a class that has another name is that class. A name that a rename made stands for
// nothing once it is given up.
func TestFormerNames(t *testing.T) {
	rename := func(names ...string) (out []Line) {
		for i := range len(names) - 1 {
			out = append(out, called(Rename, names[i], names[i+1]))
		}
		return out
	}
	merge := func(class, to string) []Line { return []Line{called(Merge, class, to)} }
	owl, gone := []Line{labelled("a", "owl")}, []Line{{Decision: Decision{Do: Unlabel, Images: photoIDs("a")}}}
	for _, c := range []struct {
		name  string
		lines [][]Line
		want  string // of what a list says
	}{
		{"a class of the base model", [][]Line{rename("cat", "lynx")}, "cat=lynx lynx=lynx dog=dog"},
		{"a class of the page", [][]Line{owl, rename("owl", "bat")}, "owl=bat bat=bat"},
		{"there and back", [][]Line{rename("cat", "wolf", "cat")}, "wolf=wolf cat=cat"},
		{"there and back, of the page", [][]Line{owl, rename("owl", "wolf", "owl")}, "wolf=wolf owl=owl"},
		{"by two names and back", [][]Line{rename("cat", "wolf", "fox", "cat")}, "wolf=wolf fox=fox"},
		{"on and on", [][]Line{rename("cat", "wolf", "fox")}, "cat=fox wolf=wolf"},
		{"there and back and on", [][]Line{rename("cat", "wolf", "cat", "fox")}, "cat=fox wolf=wolf"},
		{"a photo named meanwhile", [][]Line{rename("cat", "wolf"), {labelled("a", "wolf")}, rename("wolf", "cat")},
			"wolf=wolf"},
		{"merged", [][]Line{merge("cat", "dog")}, "cat=dog"},
		{"merged, and renamed", [][]Line{merge("cat", "dog"), rename("dog", "pet")}, "cat=pet dog=pet"},
		{"merged, and renamed after the part", [][]Line{merge("cat", "dog"), rename("dog", "cat")}, "cat=cat dog=cat"},
		{"renamed, and merged", [][]Line{rename("cat", "wolf"), merge("wolf", "dog")}, "cat=dog wolf=dog"},
		{"exchanged", [][]Line{rename("cat", "~"), rename("dog", "cat"), rename("~", "dog")}, "cat=cat dog=dog"},
		{"a name that another class had meanwhile", [][]Line{rename("cat", "lynx"), rename("dog", "cat", "hound")},
			"cat=lynx dog=hound"},
		{"undone", [][]Line{owl, rename("owl", "bat"), {about(Undo, 3)}}, "bat=bat owl=owl"},
		{"gone", [][]Line{owl, rename("owl", "bat"), gone}, "owl=owl bat=bat"},
	} {
		s := fold(journalled(slices.Concat(c.lines...)...), learned())
		for _, says := range strings.Fields(c.want) {
			class, want, _ := strings.Cut(says, "=")
			if got := s.listedAs(t, class); got != want {
				t.Errorf("%s: a list's %s is %s, want %s", c.name, class, got, want)
			}
		}
	}
}

// After any renames, merges and undos the photos of a class that was learned and a list that calls them
// by their old name agree, unless another class has that; and what was only passed through stands for
// nothing.
func TestFormerNamesOfAnyOrder(t *testing.T) {
	learned, passed := []string{"a", "b", "c", "d"}, []string{"p", "q", "r"}
	for seed := range 2000 {
		rng := random.Stream(uint64(seed), "names")
		var samples []model.SampleID
		for i, class := range learned {
			samples = append(samples, model.SampleID{Content: model.Hash{byte(i)}, Class: class})
		}
		base := newOrigin(learned, samples)
		base.complete = true
		s := fold(journalled(), base)
		merged, log := map[string]bool{}, ""
		for range 12 {
			from := slices.Concat(learned, passed)[rng.IntN(7)]
			to := slices.Concat(learned, passed)[rng.IntN(7)]
			l := called([]Do{Rename, Rename, Merge, Undo}[rng.IntN(4)], from, to)
			l.Seq = len(s.lines) + 1
			err := error(nil)
			if l.Do == Undo {
				l, err = takeBack(Undo, s.done)
				l.Seq = len(s.lines) + 1
			} else {
				err = s.checkRename(l)
			}
			if err != nil {
				continue
			}
			s.take(l)
			merged[from] = merged[from] || l.Do == Merge
			log += fmt.Sprintf("\n%s %s %s", l.Do, l.Class, l.To)
			if whole := fold(s.lines, base); whole.summary() != s.summary() {
				t.Fatalf("line by line %s, at once %s, after%s", s.summary(), whole.summary(), log)
			}
			current := s.current()
			for i, class := range learned {
				now, _ := s.label(ID{byte(i)}, "")
				if slices.Contains(current, class) {
					now = class
				}
				if got := s.listedAs(t, class); got != now && !merged[class] {
					t.Fatalf("a list's %s is %s, want %s, after%s", class, got, now, log)
				}
			}
			for _, class := range passed {
				if got := s.listedAs(t, class); got != class && !merged[class] {
					t.Fatalf("a list's %s is %s, after%s", class, got, log)
				}
			}
		}
	}
}

// A list names a class that another was called for a while: both are in MODEL, and undo takes the list
// back.
func TestListAfterRenamingBack(t *testing.T) {
	for _, each := range []int{keeps, forgets} {
		w, s := photoOrigins()["of the folder"].begun(t, each)
		do(t, s, Decision{Do: Rename, Class: "class 1", To: "wolves"})
		hasSaved(t, s, "renamed")
		do(t, s, Decision{Do: Rename, Class: "wolves", To: "class 1"})
		must.Get(s.Import(w.batch("wolves", 0), nil, ""))(t)
		if it, _ := s.Get(w.photos[0].ID); it.Label != "wolves" {
			t.Errorf("the list's photo is %q", it.Label)
		}
		hasSaved(t, s, "imported")
		must.Get(s.Undo())(t)
		hasSaved(t, s, "undone")
		if it, _ := s.Get(w.photos[0].ID); it.Label != "" {
			t.Errorf("after undo it is %q", it.Label)
		}
	}
}

// summary returns classes and labels as text.
func (s *state) summary() string {
	var out []string
	for id, m := range s.marks {
		out = append(out, fmt.Sprintf("%.4s=%s %s %v", id, m.class(), m.by, m.labels()))
	}
	slices.Sort(out)
	return fmt.Sprintf("%v: %s", s.current(), strings.Join(out, ", "))
}
