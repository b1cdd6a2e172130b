package teach

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/label"
)

// A Decision is what a person decides: the body of a request, and the part of a Line that says it.
type Decision struct {
	Do     Do     `json:"do"` // of a person: Label, Unlabel, Ignore, Skip, Several, Rename or Merge
	Images []ID   `json:"images,omitempty"`
	Class  string `json:"class,omitempty"`
	To     string `json:"to,omitempty"`
	// Labels are what photos of Several show; in a Line they are Classes.
	Labels []string `json:"labels,omitempty"`
	// Of is a line that accepted photos: Unlabel takes back what is left of it, instead of
	// Images.
	Of int `json:"of,omitempty"`
	// Kept is the photo of which the Images of an Ignore are copies, nil if they are none.
	Kept *ID `json:"kept,omitempty"`
}

// Do makes a decision. When it returns, the decision is on disk, and a model that
// can follow has learned it. A *Refusal says why it was not made.
func (s *Session) Do(d Decision) (Line, error) {
	return s.decide(func() (Line, error) {
		l := Line{Decision: Decision{
			Do: d.Do, Images: unique(d.Images), Class: strings.TrimSpace(d.Class), To: strings.TrimSpace(d.To),
			Kept: d.Kept,
		}}
		for _, name := range d.Labels {
			l.Classes = append(l.Classes, strings.TrimSpace(name))
		}
		slices.Sort(l.Classes)
		l.Classes = slices.Compact(l.Classes)
		if d.Of != 0 {
			if d.Do != Unlabel || len(d.Images) > 0 {
				return l, refuse(Invalid, "of is for unlabel, instead of images")
			}
			var err error
			if l.Images, err = s.state.acceptedBy(d.Of); err != nil {
				return l, err
			}
		}
		err := s.state.check(l, s.here)
		if err == nil && l.Do == Label {
			err = s.withoutDetected(&l)
		}
		if err != nil {
			return l, err
		}
		s.predicted(&l)
		return l, s.remember(&l, nil)
	})
}

// withoutDetected takes out of a Label the boxes that a detector says to be of that class:
// there is nothing to decide, and what it says is never learned.
func (g *gallery) withoutDetected(l *Line) error {
	l.Images = slices.DeleteFunc(l.Images, func(id ID) bool {
		at, ok := g.index[id]
		if !ok {
			return false
		}
		class, by := g.label(at)
		return by == label.Detector && class == l.Class
	})
	if len(l.Images) == 0 {
		return refuse(Conflict, "the detector says %q, which is not learned: a label is for what it got wrong", l.Class)
	}
	return nil
}

// predicted adds to a Label what was predicted for a single photo.
func (g *gallery) predicted(l *Line) {
	if l.Do != Label || len(l.Images) != 1 || g.state.knows(l.Images[0]) {
		return
	}
	if at, ok := g.index[l.Images[0]]; ok && g.live.scored(at) {
		l.Was, l.P = g.live.predicted(at)
	}
}

// Teach learns photos that need not lie in the folder, given their embeddings.
func (s *Session) Teach(images []ID, vectors [][]float32, class string) (Line, error) {
	return s.decide(func() (Line, error) {
		l, given := Line{Decision: Decision{Do: Learn, Class: strings.TrimSpace(class)}}, map[ID][]float32{}
		if err := checkName(l.Class); err != nil {
			return l, err
		}
		for i, id := range images {
			if slices.Contains(l.Images, id) {
				continue
			}
			if n := len(vectors[i]); n != s.options.Dim {
				return l, fmt.Errorf("learn %s: its embedding has %d values, not %d", id, n, s.options.Dim)
			}
			l.Images = append(l.Images, id)
			given[id] = vectors[i]
		}
		if err := s.state.checkForgets(l); err != nil {
			return l, err
		}
		return l, s.remember(&l, given)
	})
}

// decide writes the line that follows from the present state, and brings the model up to
// date.
func (s *Session) decide(line func() (Line, error)) (Line, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, err := line()
	if err == nil {
		l, err = s.append(l)
	}
	if err != nil {
		return Line{}, err
	}
	s.touch()
	if s.live != nil {
		s.live.rescore(s.ctx, s.x, s.live.follow(s.state.examples(), s.row))
	}
	s.refitIfDue()
	go s.options.Changed("change")
	return l, nil
}

// append writes a line; the caller holds mu.
func (s *Session) append(l Line) (Line, error) {
	l.Time = s.options.Now()
	l, err := s.record.append(l)
	if err != nil {
		go s.options.Changed("status")
		return l, err
	}
	s.state.take(l)
	return l, nil
}

// GoBack makes everything as it was after a line of the journal. The lines since
// stay, and Undo takes it back.
func (s *Session) GoBack(seq int) (Line, error) {
	return s.decide(func() (Line, error) { return s.state.back(seq) })
}

// Undo takes back the last decision, or the last GoBack, that was not taken back.
func (s *Session) Undo() (Line, error) {
	return s.decide(func() (Line, error) { return takeBack(Undo, s.state.done) })
}

// Redo takes back the last Undo.
func (s *Session) Redo() (Line, error) {
	return s.decide(func() (Line, error) { return takeBack(Redo, s.state.undone) })
}
