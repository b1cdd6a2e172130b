package model

import (
	"fmt"
	"slices"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
)

// RenameClass gives a class another name, everywhere in the model. If there is a class
// of that name, the two become one, if the head can do that (classifier.Renamer): what
// all classes share, the temperature and the thresholds stay as they are. Errors wrap
// classifier.ErrUnsupported or classifier.ErrUnknownClass; after one the model is
// unchanged.
func (m *Model) RenameClass(class, to string) error {
	r, ok := m.Predictor.Head.(classifier.Renamer)
	if !ok {
		return fmt.Errorf("rename class %q: %s: %w", class, m.Method, classifier.ErrUnsupported)
	}
	m.restoreStatistics()
	joins := slices.Contains(m.Classes(), to)
	if err := r.Rename(class, to); err != nil {
		return err
	}
	rename := func(names []string) []string {
		names = slices.Clone(names)
		for i, name := range names {
			if name == class {
				names[i] = to
			}
		}
		return names
	}
	for i := range m.Sessions {
		s := &m.Sessions[i]
		if joins {
			s.NewClasses = slices.DeleteFunc(slices.Clone(s.NewClasses),
				func(name string) bool { return name == class })
		}
		s.NewClasses, s.Samples = rename(s.NewClasses), slices.Clone(s.Samples)
		for k := range s.Samples {
			if s.Samples[k].Class == class {
				s.Samples[k].Class = to
			}
		}
	}
	m.Predictor.renamed(rename)
	m.changed = true
	return nil
}

// renamed renames classes in what is known about them.
func (p *Predictor) renamed(rename func([]string) []string) {
	c := &p.Calibration
	c.Weak = slices.Compact(slices.Sorted(slices.Values(rename(c.Weak))))
	confusions := slices.Clone(c.Confusions)
	for i, pair := range confusions {
		names := rename([]string{pair.Class, pair.As})
		confusions[i].Class, confusions[i].As = names[0], names[1]
	}
	c.Confusions = slices.DeleteFunc(confusions, func(pair calibration.Confusion) bool { return pair.Class == pair.As })
	if p.kept == nil {
		return
	}
	next := &keptExamples{all: p.kept.all, sessions: slices.Clone(p.kept.sessions)}
	for i := range next.sessions {
		next.sessions[i].Y = rename(next.sessions[i].Y)
	}
	p.kept = next
}
