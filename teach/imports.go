package teach

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/model"
)

// A Preference says which of two truths about a photo rules.
type Preference string

// The preferences; "" is none.
const (
	Decisions Preference = "decisions" // what was decided or learned before
	Lists     Preference = "list"      // the folder or list that is imported
)

// shownConflicts is how many conflicts a message names.
const shownConflicts = 5

// A ConflictsError reports photos that a folder, list or another project says to be of another class
// than what was decided or learned before.
type ConflictsError struct {
	// First describes some of All photos.
	First []string
	All   int
	// Photos are the first hundred of All, with what each side says.
	Photos []Disagreement
	// This and Other name the projects of a merge; they are "" for a folder or list.
	This, Other string
}

// A Disagreement is a photo of which two sides say something else.
type Disagreement struct {
	ID                ID
	Path, This, Other string
}

const mostDisagreements = 100

// What the two sides of a conflict are called wherever people choose between them.
const (
	thisProject  = "this project"
	otherProject = "the project you are adding"
	folderOrList = "the folder or list"
)

func (e *ConflictsError) Error() string {
	what := "are of another class than was decided before"
	if e.Other != "" {
		what = fmt.Sprintf("have other labels in %s, %s, than in %s, %s", thisProject, e.This, otherProject, e.Other)
	}
	return fmt.Sprintf("%d photos %s, and nothing was changed: %s", e.All, what, strings.Join(e.First, "; "))
}

// Choice names what a Preference chooses between: what Decisions keeps, and what Lists takes.
func (e *ConflictsError) Choice() (decided, listed string) { return thisProject, e.otherSide() }

func (e *ConflictsError) otherSide() string {
	if e.Other != "" {
		return otherProject
	}
	return folderOrList
}

func (e *ConflictsError) add(id ID, path, have string, says said) {
	if len(e.Photos) < mostDisagreements {
		e.Photos = append(e.Photos, Disagreement{id, path, have, says.String()})
	}
	if e.All++; len(e.First) < shownConflicts {
		e.First = append(e.First,
			fmt.Sprintf("%s is %s in %s, and %s in %s", path, have, thisProject, says, e.otherSide()))
	}
}

// An Aside is a photo of a folder or list that a person set aside: it shows several things, at least
// two, or is of no class.
type Aside struct {
	Content model.Hash
	Path    string
	Labels  []string
	// Vector is its embedding, nil if it is not known: a model that learned the photo unlearns it.
	Vector []float32
}

// said is what a folder or list says of a photo: its class, or else what it shows.
type said struct {
	class  string
	labels []string
}

func (s said) String() string {
	switch {
	case s.class != "":
		return fmt.Sprintf("%q", s.class)
	case len(s.labels) > 0:
		return fmt.Sprintf("several things (%s)", strings.Join(s.labels, ", "))
	}
	return "of no class"
}

func (s said) equal(t said) bool { return s.class == t.class && slices.Equal(s.labels, t.labels) }

// Import learns photos of a folder or list, with paths and embeddings, and sets photos aside, as
// one line, none if there is nothing new. A photo about which something else was decided or learned
// is a *ConflictsError, unless one of the two is preferred.
func (s *Session) Import(b model.Batch, aside []Aside, prefer Preference) (model.Outcome, error) {
	return s.learn(b, aside, prefer, ConflictsError{})
}

// learn is Import, with the conflicts of a merge.
func (s *Session) learn(b model.Batch, aside []Aside, prefer Preference, c ConflictsError) (model.Outcome, error) {
	var o model.Outcome
	if err := checkImport(b, aside, s.options.Dim); err != nil {
		return o, err
	}
	var before []string
	l, err := s.decide(func() (l Line, err error) {
		before = s.state.current()
		if l, o, err = s.state.imported(b, aside, prefer, c); err == nil && len(l.Images) == 0 {
			err = errNothing
		}
		if err == nil {
			err = s.state.checkForgets(l)
		}
		if err == nil {
			err = s.remember(&l, vectorsOf(b, aside))
		}
		return l, err
	})
	if errors.Is(err, errNothing) {
		return o, nil
	}
	for _, class := range slices.Compact(slices.Sorted(slices.Values(l.Classes))) {
		switch {
		case class == "":
		case slices.Contains(before, class):
			o.MoreOf = append(o.MoreOf, class)
		default:
			o.NewClasses = append(o.NewClasses, class)
		}
	}
	return o, err
}

// checkImport returns an error unless what is imported is complete, with embeddings of d values.
func checkImport(b model.Batch, aside []Aside, d int) error {
	for _, class := range b.Labels {
		if err := checkName(class); err != nil {
			return err
		}
	}
	for _, a := range aside {
		if len(a.Vector) != 0 && (len(a.Vector) != d || !dense.Finite32(a.Vector)) {
			return fmt.Errorf("%s: its embedding has %d values, not %d that are finite", a.Path, len(a.Vector), d)
		}
		if len(a.Labels) == 0 {
			continue
		}
		if err := (Line{Decision: Decision{Do: Several}, Classes: a.Labels}).checkSeveral(); err != nil {
			return fmt.Errorf("%s: %w", a.Path, err)
		}
	}
	if b.X.Cols != d && len(b.Labels) > 0 {
		return fmt.Errorf("the embeddings have %d values, not %d", b.X.Cols, d)
	}
	n := len(b.Labels)
	if b.X.Rows != n || b.X.Stride != b.X.Cols || len(b.X.Data) != n*b.X.Cols ||
		len(b.Content) != n || len(b.Paths) != n {
		return fmt.Errorf("%d labels, %d embeddings, %d contents and %d paths do not match", n, b.X.Rows,
			len(b.Content), len(b.Paths))
	}
	if n == 0 {
		return nil
	}
	return classifier.CheckRows(b.X, 0)
}

// vectorsOf returns the embeddings of photos that are given.
func vectorsOf(b model.Batch, aside []Aside) map[ID][]float32 {
	out := make(map[ID][]float32, len(b.Content)+len(aside))
	for i, h := range b.Content {
		out[ID(h)] = dense.Row32(b.X, i)
	}
	for _, a := range aside {
		if a.Vector != nil {
			out[ID(a.Content)] = a.Vector
		}
	}
	return out
}

// errNothing reports that there is nothing to decide.
var errNothing = errors.New("nothing is new")

// imported returns the line that takes over what is new in a batch, and in photos that are set
// aside.
func (s *state) imported(b model.Batch, aside []Aside, prefer Preference, c ConflictsError) (l Line,
	o model.Outcome, err error) {
	m := importing{state: s, prefer: prefer, said: map[ID]said{}, conflicts: c}
	m.line.Do, m.line.From = Import, c.Other
	current := s.current()
	now := func(class string) string { // its name, if it was renamed
		if slices.Contains(current, class) {
			return class
		}
		if name := s.names.stands(class); slices.Contains(current, name) {
			return name
		}
		return class
	}
	for i, class := range b.Labels {
		if err := m.add(ID(b.Content[i]), b.Paths[i], said{class: now(class)}); err != nil {
			return l, o, err
		}
	}
	for _, a := range aside {
		shows := said{}
		for _, class := range a.Labels {
			shows.labels = append(shows.labels, now(class))
		}
		slices.Sort(shows.labels)
		if err := m.add(ID(a.Content), a.Path, shows); err != nil {
			return l, o, err
		}
	}
	if m.conflicts.All > 0 {
		return m.line, m.Outcome, &m.conflicts
	}
	return m.line, m.Outcome, nil
}

// importing builds the line of an Import.
type importing struct {
	*state
	model.Outcome
	prefer    Preference
	line      Line
	said      map[ID]said
	conflicts ConflictsError
}

// add adds what is said of a photo, unless that is known, or something else was decided.
func (m *importing) add(id ID, path string, says said) error {
	if first, twice := m.said[id]; twice {
		if !first.equal(says) {
			return refuse(Conflict, "the same photo is given as %s and, as %s, as %s: leave one of them out",
				first, path, says)
		}
		m.Duplicates++
		return nil
	}
	m.said[id] = says
	class, by := m.label(id, "")
	have := said{class, m.marks[id].labels()}
	switch {
	case by == "" || by == label.Bulk: // the model's own guess
	case by == label.Skipped && says.class == "":
	case by != label.Skipped && have.equal(says):
		m.AlreadyKnown++
		return nil
	case m.prefer == "":
		what := fmt.Sprintf("%s (%s)", have, by)
		if by.Aside() {
			what = string(by)
		}
		m.conflicts.add(id, path, what, says)
		return nil
	case m.prefer == Decisions:
		return nil
	}
	m.line.Images, m.line.Classes = append(m.line.Images, id), append(m.line.Classes, says.class)
	switch {
	case says.class != "":
		m.Added++
		return nil
	case len(says.labels) > 0:
		if m.line.Shows == nil {
			m.line.Shows = map[ID][]string{}
		}
		m.line.Shows[id] = says.labels
	}
	m.SetAside++
	return nil
}
