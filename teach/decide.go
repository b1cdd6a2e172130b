package teach

import (
	"fmt"
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
