package teach

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
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

// A ConflictsError reports photos that a folder or list says to be of another class than
// what was decided or learned before.
type ConflictsError struct {
	// First describes some of All photos.
	First []string
	All   int
}

func (e *ConflictsError) Error() string {
	return fmt.Sprintf("%d photos are of another class than was decided before, and nothing was changed: %s",
		e.All, strings.Join(e.First, "; "))
}

func (e *ConflictsError) add(path, have string, by By, says string) {
	if e.All++; len(e.First) < shownConflicts {
		e.First = append(e.First, fmt.Sprintf("%s is %q (%s), and %q here", path, have, by, says))
	}
}

// Import learns photos of a folder or list, with paths and embeddings, as one line, none if
// there is nothing new. A photo that was decided or learned as another class is a
// *ConflictsError, unless one of the two is preferred.
func (s *Session) Import(b model.Batch, prefer Preference) (model.Outcome, error) {
	var o model.Outcome
	for _, class := range b.Labels {
		if err := checkName(class); err != nil {
			return o, err
		}
	}
	if b.X.Cols != s.options.Dim {
		return o, fmt.Errorf("the embeddings have %d values, not %d", b.X.Cols, s.options.Dim)
	}
	n := len(b.Labels)
	if b.X.Rows != n || b.X.Stride != b.X.Cols || len(b.X.Data) != n*b.X.Cols ||
		len(b.Content) != n || len(b.Paths) != n {
		return o, fmt.Errorf("%d labels, %d embeddings, %d contents and %d paths do not match", n, b.X.Rows,
			len(b.Content), len(b.Paths))
	}
	if err := classifier.CheckRows(b.X, 0); n > 0 && err != nil {
		return o, err
	}
	var before []string
	l, err := s.decide(func() (l Line, err error) {
		before = s.state.current()
		if l, o, err = s.state.imported(b, prefer); err == nil && len(l.Images) == 0 {
			err = errNothing
		}
		if err == nil {
			err = s.state.checkForgets(l)
		}
		s.embedAll(&l, b)
		return l, err
	})
	if errors.Is(err, errNothing) {
		return o, nil
	}
	for _, class := range slices.Compact(slices.Sorted(slices.Values(l.Classes))) {
		if slices.Contains(before, class) {
			o.MoreOf = append(o.MoreOf, class)
		} else {
			o.NewClasses = append(o.NewClasses, class)
		}
	}
	return o, err
}

// embedAll adds to a line the embeddings of a batch that are not stored.
func (r *record) embedAll(l *Line, b model.Batch) {
	rows := map[ID]int{}
	for i, h := range b.Content {
		rows[ID(h)] = i
	}
	for _, id := range l.Images {
		if !r.stored(id) {
			l.embed(id, dense.Row32(b.X, rows[id]))
		}
	}
}

// errNothing reports that there is nothing to decide.
var errNothing = errors.New("nothing is new")

// imported returns the line that learns what is new in a batch.
func (s *state) imported(b model.Batch, prefer Preference) (l Line, o model.Outcome, err error) {
	l = Line{Do: Import}
	conflicts := &ConflictsError{}
	said, current := map[ID]string{}, s.current()
	for i, class := range b.Labels {
		id := ID(b.Content[i])
		if !slices.Contains(current, class) {
			class = s.name(class) // it was renamed
		}
		if first, twice := said[id]; twice {
			if first != class {
				return l, o, refuse(Conflict, "the same photo is given as %q and, as %s, as %q: leave one of them out",
					first, b.Paths[i], class)
			}
			o.Duplicates++
			continue
		}
		said[id] = class
		have, by := s.label(id, "")
		switch {
		case by.aside() && prefer != Lists:
			if prefer == "" {
				conflicts.add(b.Paths[i], "", by, class)
			}
			continue
		case have == "" || by == Bulk: // the model's own guess
		case have == class:
			o.AlreadyKnown++
			continue
		case prefer == "":
			conflicts.add(b.Paths[i], have, by, class)
			continue
		case prefer == Decisions:
			continue
		}
		l.Images, l.Classes = append(l.Images, id), append(l.Classes, class)
	}
	o.Added = len(l.Images)
	if conflicts.All > 0 {
		return l, o, conflicts
	}
	return l, o, nil
}
