package teach

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/model"
)

// photoIDs returns the photos that letters name.
func photoIDs(letters string) (ids []ID) {
	for _, r := range letters {
		ids = append(ids, ID{byte(r)})
	}
	return ids
}

// learned is a base model that has learned x as cat and y as dog.
func learned() *origin {
	return newOrigin([]string{"cat", "dog"}, []model.SampleID{
		{Content: model.Hash{'x'}, Class: "cat"},
		{Content: model.Hash{'y'}, Class: "dog"},
	})
}

// journalled numbers lines after the first one of a journal.
func journalled(lines ...Line) []Line {
	all := append([]Line{{Decision: Decision{Do: Start}, Model: "base", Was: "before"}}, lines...)
	for i := range all {
		all[i].Seq = i + 1
	}
	return all
}

func labelled(letters, class string) Line {
	return Line{Decision: Decision{Do: Label, Images: photoIDs(letters), Class: class}}
}

func unlabelled(letters string) Line {
	return Line{Decision: Decision{Do: Unlabel, Images: photoIDs(letters)}}
}

// about is a line about another one, or about all before it.
func about(do Do, of int) Line { return Line{Decision: Decision{Do: do, Of: of}} }

// called is a line that gives a class another name.
func called(do Do, class, to string) Line {
	return Line{Decision: Decision{Do: do, Class: class, To: to}}
}

// described returns the examples of a state as "x=cat y=dog".
func (s *state) described() string {
	var out []string
	for _, e := range s.examples() {
		out = append(out, fmt.Sprintf("%c=%s", e.Content[0], e.Class))
	}
	return strings.Join(out, " ")
}

func TestStateFollowsFromLines(t *testing.T) {
	rename := called(Rename, "cat", "lynx")
	accept := Line{Decision: Decision{Do: Accept, Images: photoIDs("ab")}, Classes: []string{"cat", "owl"}}
	for _, c := range []struct {
		name              string
		lines             []Line
		examples, classes string
	}{
		{"nothing", nil, "x=cat y=dog", "cat dog"},
		{"in the order of the decisions", []Line{labelled("b", "owl"), labelled("a", "cat")},
			"x=cat y=dog b=owl a=cat", "cat dog owl"},
		{"labelled again", []Line{labelled("ab", "owl"), labelled("a", "cat")},
			"x=cat y=dog b=owl a=cat", "cat dog owl"},
		{"confirmed", []Line{labelled("x", "cat")}, "x=cat y=dog", "cat dog"},
		{"corrected", []Line{labelled("x", "dog")}, "y=dog x=dog", "cat dog"},
		{"unlabelled", []Line{labelled("ax", "owl"), unlabelled("ax")}, "x=cat y=dog", "cat dog"},
		{"accepted and not learned", []Line{accept}, "x=cat y=dog", "cat dog owl"},
		{"accepted, then looked at", []Line{accept, labelled("b", "dog")},
			"x=cat y=dog b=dog", "cat dog"},
		{"taught from elsewhere", []Line{{Decision: Decision{Do: Learn, Images: photoIDs("z"), Class: "owl"}}},
			"x=cat y=dog z=owl", "cat dog owl"},
		{"renamed", []Line{labelled("a", "cat"), rename}, "x=lynx y=dog a=lynx", "dog lynx"},
		{"a name that is free again", []Line{rename, labelled("a", "cat")}, "x=lynx y=dog a=cat", "cat dog lynx"},
		{"renamed twice", []Line{rename, called(Rename, "lynx", "cat")}, "x=cat y=dog", "cat dog"},
		{"merged", []Line{labelled("a", "cat"), called(Merge, "cat", "dog")}, "x=dog y=dog a=dog", "dog"},
		{"undone", []Line{labelled("a", "cat"), rename, about(Undo, 3)}, "x=cat y=dog a=cat", "cat dog"},
		{"redone", []Line{rename, about(Undo, 2), about(Redo, 2)}, "x=lynx y=dog", "dog lynx"},
		{"gone back", []Line{labelled("a", "cat"), labelled("b", "owl"), about(Back, 2)},
			"x=cat y=dog a=cat", "cat dog"},
		{"gone back, and that undone", []Line{labelled("a", "cat"), about(Back, 1), about(Undo, 3)},
			"x=cat y=dog a=cat", "cat dog"},
		{"fits and saves decide nothing", []Line{about(Refit, 0), about(Save, 0), about(Saved, 3)}, "x=cat y=dog",
			"cat dog"},
	} {
		t.Run(c.name, func(t *testing.T) {
			lines := journalled(c.lines...)
			whole, one := fold(lines, learned()), fold(nil, learned())
			for _, l := range lines {
				one.take(l)
			}
			for how, s := range map[string]*state{"at once": whole, "line by line": one} {
				if got := s.described(); got != c.examples {
					t.Errorf("%s: examples %q, want %q", how, got, c.examples)
				}
				if got := strings.Join(s.current(), " "); got != c.classes {
					t.Errorf("%s: classes %q, want %q", how, got, c.classes)
				}
			}
		})
	}
}

func TestStateKeepsNoLineOfItsCaller(t *testing.T) {
	lines := journalled(labelled("a", "cat"), labelled("b", "dog"))
	fold(lines[:2], learned()).take(labelled("c", "owl"))
	if lines[2].Class != "dog" {
		t.Errorf("a line of the caller is now %q", lines[2].Class)
	}
}

func TestWhoLabelled(t *testing.T) {
	s := fold(journalled(
		labelled("a", "owl"),
		Line{Decision: Decision{Do: Accept, Images: photoIDs("b")}, Classes: []string{"dog"}},
		called(Rename, "cat", "lynx"),
	), learned())
	for _, c := range []struct {
		photo, folder string
		class         string
		by            label.By
		known         bool
	}{
		{"a", "cat", "owl", label.Person, true},
		{"b", "cat", "dog", label.Bulk, true},
		{"x", "", "lynx", label.Folder, true},
		{"c", "cat", "lynx", label.Folder, false}, // the folder has the name that the class had
		{"c", "lynx", "", "", false},
		{"c", "", "", "", false},
	} {
		id := photoIDs(c.photo)[0]
		if class, by := s.label(id, c.folder); class != c.class || by != c.by || s.knows(id) != c.known {
			t.Errorf("%s in %q is %q by %q, known %v", c.photo, c.folder, class, by, s.knows(id))
		}
	}
}

func TestUndoableSteps(t *testing.T) {
	a, b := labelled("a", "cat"), labelled("b", "dog")
	undo, redo, back := about(Undo, 3), about(Redo, 3), about(Back, 2)
	for _, c := range []struct {
		name       string
		lines      []Line
		undo, redo int   // the lines that they take back, 0 for none
		undone     []int // in the history
	}{
		{"nothing", nil, 0, 0, nil},
		{"decided", []Line{a, b}, 3, 0, nil},
		{"undone", []Line{a, b, undo}, 2, 3, []int{3}},
		{"redone", []Line{a, b, undo, redo}, 3, 0, nil},
		{"decided after an undo", []Line{a, b, undo, b}, 5, 0, []int{3}},
		{"gone back", []Line{a, b, back}, 4, 0, []int{3}},
		{"a fit between", []Line{a, about(Refit, 0)}, 2, 0, nil},
	} {
		s := fold(journalled(c.lines...), learned())
		undo, _ := takeBack(Undo, s.done)
		redo, _ := takeBack(Redo, s.undone)
		var undone []int
		for _, step := range s.history(0, 100) {
			if step.Undone {
				undone = append(undone, step.Seq)
			}
		}
		if undo.Of != c.undo || redo.Of != c.redo || !slices.Equal(undone, c.undone) {
			t.Errorf("%s: undo of line %d, redo of line %d, undone lines %v", c.name, undo.Of, redo.Of, undone)
		}
	}
	s := fold(journalled(a, b), learned())
	for seq, want := range map[int]string{0: "no line 0", 4: "no line 4", 3: "already"} {
		if _, err := s.back(seq); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("back to line %d: %v", seq, err)
		}
	}
}

func TestDecisionsThatAreRefused(t *testing.T) {
	folder := func(id ID) bool { return id[0] == 'a' }
	for _, c := range []struct {
		name string
		line Line
		can  origin // complete, forgets, renames and joins
		want string // part of the Refusal, "" for none
	}{
		{"a photo of the folder", labelled("a", "owl"), origin{}, ""},
		{"a photo of no folder", labelled("z", "owl"), origin{complete: true}, "there is no photo"},
		{"the label of a learned photo", unlabelled("x"), origin{}, "none of these photos"},
		{"no photo", labelled("", "owl"), origin{}, "no photos are named"},
		{"no class", labelled("a", ""), origin{}, "is empty"},
		{"a class of the folder that nobody knows", called(Rename, "owl", "bat"), origin{complete: true},
			"no class \"owl\""},
		{"a name that another class has", called(Rename, "cat", "dog"), origin{complete: true}, "merge the two"},
		{"a class to merge with that is new", called(Merge, "cat", "owl"), origin{complete: true}, "rename it"},
		{"a head that does not rename", called(Rename, "cat", "owl"), origin{}, "cannot rename a class"},
		{"one that does", called(Rename, "cat", "owl"), origin{renames: true}, ""},
		{"and does not join", called(Merge, "cat", "dog"), origin{renames: true}, "cannot merge two classes"},
		{"or joins", called(Merge, "cat", "dog"), origin{renames: true, joins: true}, ""},
		{"a complete model", called(Merge, "cat", "dog"), origin{complete: true}, ""},
		{"what no person can do", about(Save, 0), origin{}, "do is \"save\""},
	} {
		base := learned()
		base.complete, base.renames, base.joins = c.can.complete, c.can.renames, c.can.joins
		err := fold(journalled(), base).check(c.line, folder)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	for _, forgets := range []bool{false, true} {
		base := learned()
		base.forgets = forgets
		err := fold(journalled(), base).check(labelled("x", "dog"), folder)
		if refused := err != nil; refused == forgets {
			t.Errorf("corrects what was learned, forgets %v: %v", forgets, err)
		}
	}
}

func TestWhatTheFileHasLearned(t *testing.T) {
	s := fold(journalled(
		labelled("a", "cat"), about(Refit, 0),
		about(Save, 0), Line{Decision: Decision{Do: Saved, Of: 4, To: "new"}},
		Line{Decision: Decision{Do: Saved, Of: 4}, Model: "new"},
		labelled("b", "dog"), about(Undo, 7), about(Save, 0),
	), learned())
	for hash, want := range map[string]int{"new": 4, "base": 1, "before": 1} {
		if seq, known := s.writtenAt(hash); seq != want || !known {
			t.Errorf("file %q is of line %d, %v", hash, seq, known)
		}
	}
	if _, known := s.writtenAt("other"); known {
		t.Error("a file of another program is known")
	}
	if save := s.brokenOff(); save == nil || save.Seq != 9 {
		t.Errorf("the save that has no end: %v", save)
	}
	if n, fit := s.changesSince(4), s.lastFit(); n != 2 || fit != 9 || s.untouched() {
		t.Errorf("%d changes, last fit at line %d, untouched %v", n, fit, s.untouched())
	}
	if fresh := fold(journalled(about(Refit, 0)), learned()); !fresh.untouched() || fresh.brokenOff() != nil {
		t.Error("a fit counts as a decision or a save")
	}
}
