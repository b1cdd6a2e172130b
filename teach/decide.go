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
	s.mu.Lock()
	defer s.mu.Unlock()
	l := Line{Do: d.Do, Images: unique(d.Images), Class: strings.TrimSpace(d.Class), To: strings.TrimSpace(d.To)}
	if err := s.state.check(l, s.here, s.stored); err != nil {
		return Line{}, err
	}
	if l.Do == Label && len(l.Images) == 1 {
		if at, ok := s.index[l.Images[0]]; ok && s.live.scored(at) && !s.state.knows(l.Images[0]) {
			l.Was, l.P = s.live.predicted(at)
		}
	}
	return s.commit(l)
}

// Teach learns photos that need not lie in the folder, given their embeddings.
func (s *Session) Teach(images []ID, vectors [][]float32, class string) (Line, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := Line{Do: Learn, Class: strings.TrimSpace(class)}
	if err := checkName(l.Class); err != nil {
		return Line{}, err
	}
	for i, id := range images {
		if slices.Contains(l.Images, id) {
			continue
		}
		if len(vectors[i]) != s.options.Dim {
			return Line{}, fmt.Errorf("learn %s: its embedding has %d values, not %d", id, len(vectors[i]), s.options.Dim)
		}
		l.Images = append(l.Images, id)
		if s.row(id) == nil {
			l.embed(id, vectors[i])
		}
	}
	if err := s.state.checkForgets(l); err != nil {
		return Line{}, err
	}
	return s.commit(l)
}

// commit writes a line, and brings the model up to date; the caller holds mu.
func (s *Session) commit(l Line) (Line, error) {
	if l.Do == Label {
		for _, id := range l.Images {
			at, ok := s.index[id]
			if !ok || s.row(id) != nil {
				continue
			}
			x, err := s.x.read(at, at+1, nil)
			if err != nil {
				return l, err
			}
			l.embed(id, x.Data)
		}
	}
	l, err := s.append(l)
	if err != nil {
		return l, err
	}
	s.touch()
	if s.live != nil {
		s.live.update(s.ctx, s.x, s.state.examples(), s.row)
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
	return s.decide(func() (Line, error) { return s.state.undo() })
}

// Redo takes back the last Undo.
func (s *Session) Redo() (Line, error) {
	return s.decide(func() (Line, error) { return s.state.redo() })
}

// decide commits the line that follows from the present state.
func (s *Session) decide(line func() (Line, error)) (Line, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, err := line()
	if err != nil {
		return Line{}, err
	}
	return s.commit(l)
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
	for i, p := range g.photos {
		if label, _ := g.label(i); label != "" || p.Path == "" || !g.live.scored(i) || g.live.unknown(i) {
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
	s.mu.Lock()
	defer s.mu.Unlock()
	images, classes, _ := s.acceptable(above, class)
	if len(images) == 0 {
		return Line{}, refuse(Conflict, "no photo without a label is predicted with that probability")
	}
	return s.commit(Line{Do: Accept, Images: images, Classes: classes, Class: class})
}
