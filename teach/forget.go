package teach

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-90d10d51/pipeline/model"
)

// Forget removes photos from the journal with their embeddings, and from the base
// model if that keeps its embeddings, and refits the model; an existing model file is
// rewritten and its previous version removed. Forget returns how many of the
// photos it found, and says where else traces are. Interrupted, it is finished by
// doing it again. Cost: that of training, twice if the base model learned one of the
// photos.
func (s *Session) Forget(ctx context.Context, ids []ID) (removed int, left []string, err error) {
	gone := map[ID]bool{}
	for _, id := range ids {
		gone[id] = true
	}
	found, err := s.forget(ctx, gone)
	if err != nil {
		return 0, nil, err
	}
	s.mu.RLock()
	left = s.traces(gone)
	for _, sample := range s.base.samples {
		delete(gone, ID(sample.Content)) // what follows from the base model has it again
	}
	s.mu.RUnlock()
	unwritten, err := s.forgetSaved(ctx, gone, found)
	s.mu.Lock()
	s.refitIfDue()
	s.mu.Unlock()
	s.options.Changed("change")
	return len(found), append(left, unwritten...), err
}

// forget removes photos from the journal and the base model, and returns those that it
// found there.
func (s *Session) forget(ctx context.Context, gone map[ID]bool) (found map[ID]bool, err error) {
	s.fitting.Lock() // a fit reads both
	defer s.fitting.Unlock()
	base, err := s.base.without(ctx, gone)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.intact(); err != nil {
		return nil, err
	}
	defer func() { s.state = fold(s.journal.Lines(), s.base.origin) }()
	if found, err = s.journal.Forget(gone); err != nil {
		return nil, err
	}
	if base != nil {
		for _, sample := range s.base.samples {
			if id := ID(sample.Content); gone[id] {
				found[id] = true
			}
		}
		err = s.rebase(base)
	} else {
		err = s.rebased()
	}
	if len(found) > 0 {
		if s.live != nil {
			s.live.stale = true // the shared parameters knew them
		}
		s.touch()
	}
	return found, err
}

// forgetSaved writes the model file again, and removes the files that belong to it, or
// to the base model, and still hold the photos. It adds those that it finds to found,
// and says what it could not write.
func (s *Session) forgetSaved(ctx context.Context, gone, found map[ID]bool) (left []string, err error) {
	holds := func(m *model.Model) (any bool) {
		for _, sample := range samplesOf(m) {
			if id := ID(sample.Content); gone[id] {
				found[id], any = true, true
			}
		}
		return any
	}
	file := s.options.Model
	m, err := model.Load(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case holds(m) || len(found) > 0:
		var refused *Refusal
		if _, err := s.save(ctx, true); errors.As(err, &refused) && refused.Reason == Conflict {
			left = append(left, file+" cannot be written again without two classes: delete it")
		} else if err != nil {
			return nil, err
		}
	}
	s.fitting.Lock() // a save has files that no model refers to yet
	defer s.fitting.Unlock()
	for _, file := range []string{file, file + baseSuffix} {
		if _, err := model.FinishForgetting(file, holds); err != nil {
			return left, err
		}
	}
	return left, nil
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
	base, err := openBase(s.base.file, s.base.backend)
	if err != nil {
		return err
	}
	old := s.base
	s.base = base
	return errors.Join(s.rebased(), old.close())
}

// rebased notes in the journal that the base model has been replaced.
func (s *Session) rebased() error {
	if next := s.journal.Lines()[0].To; next == s.base.model.SHA256() {
		return s.journal.rebase(next, "")
	}
	return nil
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
