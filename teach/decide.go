package teach

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// A Decision is what a person decides.
type Decision struct {
	Do        Do // Label, Unlabel, Rename or Merge
	Images    []ID
	Class, To string
}

// Do makes a decision. When it returns, the decision is on disk, and a model that
// can follow has learned it. A *Refusal says why it was not made.
func (s *Session) Do(d Decision) (Line, error) {
	return s.decide(func() (Line, error) {
		l := Line{Do: d.Do, Images: unique(d.Images), Class: strings.TrimSpace(d.Class), To: strings.TrimSpace(d.To)}
		err := s.state.check(l, s.here, s.stored)
		if err == nil && l.Do == Label {
			err = s.remember(&l, s.stored)
		}
		return l, err
	})
}

// remember adds to a Label the embeddings that are not stored, and what was predicted for
// a single photo.
func (g *gallery) remember(l *Line, stored func(ID) bool) error {
	for _, id := range l.Images {
		at, ok := g.index[id]
		if ok && len(l.Images) == 1 && g.live.scored(at) && !g.state.knows(id) {
			l.Was, l.P = g.live.predicted(at)
		}
		if !ok || stored(id) {
			continue
		}
		x, err := g.x.read(at, at+1, nil)
		if err != nil {
			return err
		}
		l.embed(id, x.Data)
	}
	return nil
}

// Teach learns photos that need not lie in the folder, given their embeddings.
func (s *Session) Teach(images []ID, vectors [][]float32, class string) (Line, error) {
	return s.decide(func() (Line, error) {
		l := Line{Do: Learn, Class: strings.TrimSpace(class)}
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
			if !s.stored(id) {
				l.embed(id, vectors[i])
			}
		}
		return l, s.state.checkForgets(l)
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

// An Acceptance is what accepting predictions does.
type Acceptance struct {
	Images int
	// Precision is the mean of the probabilities.
	Precision float64
	// Checked predictions of at least that probability were looked at by a person,
	// who found Correct of them right.
	Checked, Correct int
}

// acceptable returns the photos without a label, and not unknown, that are predicted with
// at least a probability, of a class unless that is "". An unknown photo may have a high
// probability: that says only which class it is least unlike.
func (g *gallery) acceptable(above float64, class string) (images []ID, classes []string, precision float64) {
	for i, p := range g.listed() {
		if label, _ := g.label(i); label != "" || !g.live.scored(i) || g.live.unknown(i) {
			continue
		}
		predicted, prob := g.live.predicted(i)
		if prob < above || class != "" && predicted != class {
			continue
		}
		images, classes, precision = append(images, p.ID), append(classes, predicted), precision+prob
	}
	return images, classes, precision / math.Max(1, float64(len(images)))
}

// Acceptable tells what Accept would do.
func (s *Session) Acceptable(above float64, class string) Acceptance {
	s.mu.RLock()
	defer s.mu.RUnlock()
	images, _, precision := s.acceptable(above, class)
	right := s.state.checked(above, class)
	return Acceptance{Images: len(images), Precision: precision, Checked: len(right), Correct: count(right)}
}

// Accept labels every photo without a label that is not unknown and whose most probable
// class has at least a probability; class "" is any.
func (s *Session) Accept(above float64, class string) (Line, error) {
	if !(above >= 0 && above <= 1) {
		return Line{}, refuse(Invalid, "above is %v: it is a probability from 0 to 1", above)
	}
	return s.decide(func() (Line, error) {
		images, classes, _ := s.acceptable(above, class)
		if len(images) == 0 {
			return Line{}, refuse(Conflict, "no photo without a label is predicted with that probability")
		}
		return Line{Do: Accept, Images: images, Classes: classes, Class: class}, nil
	})
}
