package teach

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-90d10d51/pipeline/model"
)

// Forget removes photos from the journal with their embeddings, and from the base
// model if that keeps its embeddings, and refits the model; an existing model file is
// rewritten and its previous version removed. Forget returns how many of the
// photos it found, and says where else traces are. Cost: that of training, twice if the
// base model learned one of the photos.
func (s *Session) Forget(ctx context.Context, ids []ID) (removed int, left []string, err error) {
	gone := map[ID]bool{}
	for _, id := range ids {
		gone[id] = true
	}
	if removed, err = s.forget(ctx, gone); err != nil {
		return 0, nil, err
	}
	s.mu.RLock()
	left = s.traces(gone)
	s.mu.RUnlock()
	if _, e := os.Stat(s.options.Model); e == nil && removed > 0 {
		var refused *Refusal
		_, err = s.save(ctx, true)
		if errors.As(err, &refused) {
			left, err = append(left, fmt.Sprintf("%s, with its .prev, cannot be written again without two classes: delete them", s.options.Model)), nil
		}
	}
	s.mu.Lock()
	s.refitIfDue()
	s.mu.Unlock()
	s.options.Changed("change")
	return removed, left, err
}

// forget removes photos from the journal and the base model.
func (s *Session) forget(ctx context.Context, gone map[ID]bool) (removed int, err error) {
	s.fitting.Lock() // a fit reads both
	defer s.fitting.Unlock()
	base, err := s.base.without(ctx, gone)
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	named, err := s.journal.Forget(gone)
	if err == nil && base != nil {
		for _, sample := range s.base.samples {
			if id := ID(sample.Content); gone[id] {
				named[id] = true
			}
		}
		err = s.rebase(base)
	}
	if err != nil || len(named) == 0 {
		return 0, err
	}
	s.state = fold(s.journal.Lines())
	if s.live != nil {
		s.live.stale = true // the shared parameters knew them
	}
	s.touch()
	return len(named), nil
}

// without returns the base model without some photos; nil if it has none of them, or
// does not keep its embeddings.
func (b *base) without(ctx context.Context, gone map[ID]bool) (*model.Model, error) {
	var less []model.SampleID
	for _, sample := range b.samples {
		if gone[ID(sample.Content)] {
			less = append(less, sample)
		}
	}
	if len(less) == 0 || !b.complete {
		return nil, nil
	}
	m, err := b.load()
	if err != nil {
		return nil, err
	}
	rows, err := batch(less, m.Dim(), func(id ID) []float32 { return b.rows[id] })
	if err == nil {
		_, err = m.ForgetSamples(ctx, rows, model.Forgetting{})
	}
	return m, err
}

// rebase replaces the base model. The journal knows both models meanwhile, so that a
// session that is killed here can be opened again.
func (s *Session) rebase(m *model.Model) error {
	dir, err := os.MkdirTemp(s.options.Temp, "teach-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	m.DropPrevious = true
	if err := m.Save(filepath.Join(dir, "base")); err != nil { // to know its SHA-256
		return err
	}
	next := m.SHA256()
	if err := s.journal.rebase(s.base.model.SHA256(), next); err != nil {
		return err
	}
	if err := m.Save(s.base.file); err != nil {
		return err
	}
	if s.base, err = openBase(s.base.file, s.base.backend); err != nil {
		return err
	}
	s.relearn()
	return s.journal.rebase(next, "")
}

// traces says what Forget does not reach.
func (s *Session) traces(gone map[ID]bool) (left []string) {
	for _, sample := range s.base.samples {
		if gone[ID(sample.Content)] {
			left = append(left, fmt.Sprintf("%s%s learned some of the photos before the journal began, and does not keep its embeddings: use pipeline forget on a copy of it, and teach that with a new journal", s.options.Model, baseSuffix))
			break
		}
	}
	for _, p := range s.photos {
		if gone[p.ID] && p.Path != "" {
			left = append(left, "the files themselves are still in the folder, and will be shown again")
			break
		}
	}
	return append(left,
		"the cache of embeddings, which all models share: delete embeddings and paths in the folder that pipeline doctor names; they are made again from the files that are left",
		"what browsers keep of the pictures, labels that were exported, and copies of the model and its journal elsewhere")
}
