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
	m.statistics.restore(m.Predictor.Head)
	joins := slices.Contains(m.Classes(), to)
	if err := r.Rename(class, to); err != nil {
		return err
	}
	m.Sessions.rename(class, to, joins)
	m.Predictor.rename(class, to, joins)
	m.changed = true
	return nil
}

// renamed returns a copy of names with to in place of class.
func renamed(names []string, class, to string) []string {
	names = slices.Clone(names)
	for i, name := range names {
		if name == class {
			names[i] = to
		}
	}
	return names
}

// rename renames a class in what is known about it besides the head; joins says that it becomes one
// with a class that has the name.
func (p *Predictor) rename(class, to string, joins bool) {
	p.base = p.base.renamed(class, to, joins)
	c := &p.Calibration
	c.Weak = slices.Compact(slices.Sorted(slices.Values(renamed(c.Weak, class, to))))
	confusions := slices.Clone(c.Confusions)
	for i, pair := range confusions {
		names := renamed([]string{pair.Class, pair.As}, class, to)
		confusions[i].Class, confusions[i].As = names[0], names[1]
	}
	c.Confusions = slices.DeleteFunc(confusions, func(pair calibration.Confusion) bool { return pair.Class == pair.As })
	if p.kept == nil {
		return
	}
	next := &keptExamples{all: p.kept.all, sessions: slices.Clone(p.kept.sessions)}
	for i := range next.sessions {
		next.sessions[i].Y = renamed(next.sessions[i].Y, class, to)
	}
	p.kept = next
}
