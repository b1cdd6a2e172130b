package model

import (
	"fmt"
	"slices"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/suggest"
)

// A NotLearnedError lists the samples that ForgetSamples did not find.
type NotLearnedError struct{ Paths []string }

func (e *NotLearnedError) Error() string {
	return fmt.Sprintf("%d of the samples were never learned, nothing was forgotten: %s", len(e.Paths), listed(e.Paths))
}

// ForgetClass removes a class and the record of its samples, so that they can
// be learned again. The error wraps classifier.ErrUnknownClass or
// classifier.ErrUnsupported.
func (m *Model) ForgetClass(name string) error {
	if !slices.Contains(m.Classes(), name) {
		return fmt.Errorf("forget class %q: %w%s", name, classifier.ErrUnknownClass, suggest.Hint(name, m.Classes()))
	}
	if _, ok := m.Predictor.Head.(classifier.Forgetter); !ok {
		return fmt.Errorf("forget class %q: %s cannot forget: train it again without the class: %w", name, m.Method, classifier.ErrUnsupported)
	}
	m.restoreStatistics()
	if err := m.Predictor.Forget(name); err != nil {
		return fmt.Errorf("forget class %q: %w", name, m.explain(err))
	}
	m.dropSamples(func(id SampleID) bool { return id.Class == name })
	return nil
}

// ForgetSamples removes single samples exactly: the model predicts as if it had
// never seen them, and they can be learned again. An empty label stands for the
// only class that the content was learned as. If any sample was not learned,
// the error is a *NotLearnedError and nothing changes; if the method cannot
// forget samples or statistics are missing, it wraps classifier.ErrUnsupported.
func (m *Model) ForgetSamples(b Batch) error {
	if _, ok := m.Predictor.Head.(classifier.SampleForgetter); !ok {
		if _, ok := m.Predictor.Head.(classifier.Forgetter); !ok {
			return fmt.Errorf("forget samples: %s cannot forget: train it again without them: %w", m.Method, classifier.ErrUnsupported)
		}
		return fmt.Errorf("forget samples: %s can only forget whole classes: %w", m.Method, classifier.ErrUnsupported)
	}
	if err := b.validate(m.Dim()); err != nil {
		return fmt.Errorf("forget samples: %w", err)
	}
	rows, ids, err := m.findLearned(b)
	if err != nil {
		return fmt.Errorf("forget samples: %w", err)
	}
	m.restoreStatistics()
	labels := make([]string, len(ids))
	gone := make(map[SampleID]bool, len(ids))
	for i, id := range ids {
		labels[i] = id.Class
		gone[id] = true
	}
	if err := m.Predictor.ForgetSamples(b.rows(rows), labels); err != nil {
		return fmt.Errorf("forget samples: %w", m.explain(err))
	}
	m.dropSamples(func(id SampleID) bool { return gone[id] })
	return nil
}

// findLearned resolves empty labels and returns each learned sample once.
func (m *Model) findLearned(b Batch) (rows []int, ids []SampleID, err error) {
	known := m.index()
	seen := map[SampleID]bool{}
	var missing []string
	for i, label := range b.Labels {
		if label == "" {
			classes := known.classes(b.Content[i])
			if len(classes) > 1 {
				return nil, nil, fmt.Errorf("%s was learned as %s: give the label", b.name(i), listed(classes))
			}
			if len(classes) == 1 {
				label = classes[0]
			}
		}
		id := SampleID{Content: b.Content[i], Class: label}
		switch {
		case !known.has(id):
			missing = append(missing, b.name(i))
		case !seen[id]:
			seen[id] = true
			rows, ids = append(rows, i), append(ids, id)
		}
	}
	if len(missing) > 0 {
		return nil, nil, &NotLearnedError{missing}
	}
	return rows, ids, nil
}

// dropSamples removes the records; sessions keep their index even if empty.
func (m *Model) dropSamples(gone func(SampleID) bool) {
	classes := set(m.Classes())
	for i := range m.Sessions {
		s := &m.Sessions[i]
		s.Samples = slices.DeleteFunc(s.Samples, gone)
		s.NewClasses = slices.DeleteFunc(s.NewClasses, func(c string) bool { return !classes[c] })
	}
	m.changed = true
}
