package model

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-90d10d51/pipeline/classifier/moments"
)

// LearnStats is Learn from statistics, which may hold new classes and more
// samples of old ones: the model is then that of learning those samples. What
// it has learned already counts once, as in Stats.Merge: where s no longer has
// the examples of such a class, the error wraps ErrCountedTwice. It wraps
// embed.ErrOtherBackbone or embed.ErrOtherPreprocessing when the embeddings do not belong to
// the model, and classifier.ErrUnsupported where the method cannot learn from
// statistics. On error the model is unchanged; s stays as it is but for what
// waits to be added.
func (m *Model) LearnStats(ctx context.Context, s *Stats) (Outcome, error) {
	o, err := m.learnStats(ctx, s)
	if err != nil {
		return Outcome{}, fmt.Errorf("learn statistics: %w", err)
	}
	return o, nil
}

func (m *Model) learnStats(ctx context.Context, s *Stats) (Outcome, error) {
	if err := m.Accepts(s.source()); err != nil {
		return Outcome{}, err
	}
	learner, err := s.learner(m.Method, m.Head)
	if err != nil {
		return Outcome{}, err
	}
	if err := s.settle(); err != nil {
		return Outcome{}, err
	}
	p, err := s.plan(m.index())
	if err != nil || !p.Changed() {
		return p.Outcome, err
	}
	m.restoreStatistics()
	before := slices.Clone(m.Classes())
	if err := learner.LearnMoments(ctx, p.classes, p.stats); err != nil {
		return Outcome{}, m.explain(err)
	}
	p.NewClasses, p.MoreOf = split(m.Classes(), before, p.classes)
	m.Sessions = append(m.Sessions, Session{Index: m.nextSession(), NewClasses: slices.Clone(p.NewClasses), Samples: p.samples})
	m.changed = true
	return p.Outcome, nil
}

// statsPlan is statistics less everything that need not be learned.
type statsPlan struct {
	Outcome
	classes []string
	stats   []*moments.Moments
	samples []SampleID
}

func (s *Stats) plan(known index) (statsPlan, error) {
	var p statsPlan
	for _, name := range s.Classes() {
		all := s.classes[name]
		fresh, err := all.beyond(name, known)
		if err != nil {
			return statsPlan{}, fmt.Errorf("class %q: %w", name, err)
		}
		p.AlreadyKnown += len(all.content) - len(fresh.content)
		if len(fresh.content) == 0 {
			continue
		}
		p.Added += len(fresh.content)
		p.classes, p.stats = append(p.classes, name), append(p.stats, fresh.stats)
		for _, h := range fresh.content {
			id := SampleID{h, name}
			p.samples = append(p.samples, id)
			known.add(id)
		}
	}
	for _, id := range p.samples {
		if labels := known.classes(id.Content); len(labels) > 1 {
			p.Conflicts = append(p.Conflicts, Conflict{fmt.Sprintf("%x", id.Content), labels})
		}
	}
	return p, nil
}

// beyond returns the class without the samples that are known.
func (c *counted) beyond(name string, known index) (*counted, error) {
	gone := map[Hash]bool{}
	for _, h := range c.content {
		if known.has(SampleID{h, name}) {
			gone[h] = true
		}
	}
	switch {
	case len(gone) == 0:
		return c, nil
	case len(gone) == len(c.content):
		return &counted{}, nil
	case !c.stats.Thin():
		return nil, fmt.Errorf("%w, %d of %d, and the statistics no longer have the examples of so large a class: collect them again with --except and the statistics that the model has learned", ErrCountedTwice, len(gone), len(c.content))
	}
	return c.without(gone)
}
