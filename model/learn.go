package model

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
)

// An Outcome summarises a Learn.
type Outcome struct {
	// Added samples are new; AlreadyKnown ones were learned before under the
	// same label; Duplicates repeat another sample of the same batch.
	Added, AlreadyKnown, Duplicates int
	// SetAside photos are of no class, or show several things: none of them is learned.
	SetAside int
	// LeftOut says of decisions of another project which ones were not merged, and how many.
	LeftOut []string
	// NewClasses were added to the model; MoreOf are existing classes that got
	// more samples. Both are in column order.
	NewClasses, MoreOf []string
	// Conflicts lists added samples whose content is also learned under
	// another label. That is allowed, but rarely meant.
	Conflicts []Conflict
}

// Changed reports whether the model changed and needs saving.
func (o Outcome) Changed() bool { return o.Added > 0 }

// A Conflict is a content learned under several labels.
type Conflict struct {
	Path   string   `json:"path"`
	Labels []string `json:"labels"`
}

// plan is a batch reduced to what needs to be learned.
type plan struct {
	Outcome
	rows    []int
	labels  []string
	samples []SampleID
}

func (b Batch) plan(known index) plan {
	var p plan
	fresh := map[SampleID]bool{}
	for i, label := range b.Labels {
		id := SampleID{Content: b.Content[i], Class: label}
		switch {
		case fresh[id]:
			p.Duplicates++
			continue
		case known.has(id):
			p.AlreadyKnown++
			continue
		}
		fresh[id] = true
		p.rows = append(p.rows, i)
		p.labels = append(p.labels, label)
		p.samples = append(p.samples, id)
		known.add(id)
	}
	p.Added = len(p.rows)
	for _, i := range p.rows {
		if labels := known.classes(b.Content[i]); len(labels) > 1 {
			p.Conflicts = append(p.Conflicts, Conflict{b.name(i), labels})
		}
	}
	return p
}

// spelled returns a batch whose labels are written as the classes that they mean: a model
// may have names in another Unicode form.
func (b Batch) spelled(classes []string) Batch {
	spelling, labels := dataset.Spelling(classes), make([]string, len(b.Labels))
	for i, label := range b.Labels {
		labels[i] = spelling(label)
	}
	b.Labels = labels
	return b
}

// Learn adds a session. Samples are a set: those already learned under the same
// label are skipped, so that learning a batch again changes nothing. On error
// the model is unchanged. It first reads the side file if the head needs its
// statistics.
func (m *Model) Learn(ctx context.Context, b Batch) (Outcome, error) {
	if err := b.validate(m.Dim()); err != nil {
		return Outcome{}, fmt.Errorf("learn: %w", err)
	}
	if err := b.validateLabels(); err != nil {
		return Outcome{}, fmt.Errorf("learn: %w", err)
	}
	b = b.spelled(m.Classes())
	p := b.plan(m.Sessions.index())
	if !p.Changed() {
		return p.Outcome, nil
	}
	x := b.rows(p.rows)
	if err := m.checkPrior(p.samples, x); err != nil {
		return Outcome{}, fmt.Errorf("learn: %w", err)
	}
	m.statistics.restore(m.Predictor.Head)
	before := m.taught()
	s := episodes.Episode{X: x, Y: p.labels, Taken: b.taken(p.rows)}
	if err := m.Predictor.learn(ctx, s, false); err != nil {
		return Outcome{}, fmt.Errorf("learn: %w", m.statistics.explain(err))
	}
	m.record(&p.Outcome, before, p.labels, Session{Samples: p.samples})
	return p.Outcome, nil
}

// checkPrior returns an error if samples, of which the embeddings are the rows of x
// if they are known, are among those that the prior was made from.
func (m *Model) checkPrior(samples []SampleID, x blas32.General) error {
	if m.Prior == nil {
		return nil
	}
	content := make([]Hash, len(samples))
	for i, id := range samples {
		content[i] = id.Content
	}
	return m.Prior.CheckLearned(content, embedding.HashRows(x))
}

// record adds a session to the history and sets the class lists of o.
func (m *Model) record(o *Outcome, before, labels []string, s Session) {
	o.NewClasses, o.MoreOf = split(m.Classes(), before, labels)
	s.NewClasses = slices.Clone(o.NewClasses)
	m.Sessions, m.changed = m.Sessions.with(s), true
}

// Refresh recomputes what the head derives from its classes, such as
// super-classes. The error wraps classifier.ErrUnsupported if the head derives
// nothing; on error the model is unchanged.
func (m *Model) Refresh(ctx context.Context) error {
	r, ok := m.Predictor.Head.(classifier.Refresher)
	if !ok {
		return fmt.Errorf("refresh: %s has nothing to refresh: %w", m.Method, classifier.ErrUnsupported)
	}
	if err := r.Refresh(ctx); err != nil {
		return fmt.Errorf("refresh: %w", err)
	}
	if n := len(m.Sessions); n > 0 {
		m.Sessions[n-1].Refreshed = true
	}
	return nil // the classes are the same, and so are their statistics
}

// split divides the learned labels into new and existing classes.
func split(after, before, labels []string) (newClasses, moreOf []string) {
	old, learned := set(before), set(labels)
	for _, c := range after {
		switch {
		case !learned[c]:
		case old[c]:
			moreOf = append(moreOf, c)
		default:
			newClasses = append(newClasses, c)
		}
	}
	return newClasses, moreOf
}

func set(names []string) map[string]bool {
	s := make(map[string]bool, len(names))
	for _, n := range names {
		s[n] = true
	}
	return s
}
