package teach

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

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
	left = s.traces(gone, s.base.file)
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

// PhotosOf returns the photos of some classes, decided or learned, to forget. A *Refusal
// says that there is no such class, or that the base model cannot forget it.
func (s *Session) PhotosOf(classes []string) ([]ID, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.state.photosOf(classes)
}

func (s *state) photosOf(classes []string) (ids []ID, err error) {
	current := s.current()
	for _, class := range classes {
		if !slices.Contains(current, class) {
			return nil, refuse(Unknown, "there is no class %q", class)
		}
	}
	for id, names := range s.learned {
		if !slices.ContainsFunc(names, func(name string) bool { return slices.Contains(classes, s.name(name)) }) {
			continue
		}
		if !s.complete {
			return nil, refuse(Conflict, "the model was trained on photos of these classes before it was taught, and "+
				"does not keep all embeddings: train again without them, into another file")
		}
		ids = append(ids, id)
	}
	for id, m := range s.marks {
		named := slices.ContainsFunc(append([]string{m.class()}, m.labels()...), func(name string) bool {
			return slices.Contains(classes, name)
		})
		if named && len(s.learned[id]) == 0 {
			ids = append(ids, id)
		}
	}
	return ids, nil
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
	found, err = s.record.forget(gone, base, s.options.Temp)
	s.state = s.replay()
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
		sv, err := s.beginSave(true)
		if err == nil {
			_, err = sv.wait(ctx)
		}
		if refused(err, Conflict) {
			left = append(left, fmt.Sprintf("%s, which cannot be written again (%v): delete it", file, err))
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
	stays := func(s model.SampleID) bool { return !gone[ID(s.Content)] }
	less := slices.DeleteFunc(slices.Clone(b.samples), stays)
	if len(less) == 0 || !b.complete {
		return nil, nil
	}
	m, err := b.copy()
	if err != nil {
		return nil, err
	}
	rows, err := batch(less, m.Dim(), func(id ID) []float32 { return b.rows[id] })
	if err == nil {
		_, err = m.ForgetSamples(ctx, rows, model.Forgetting{})
	}
	return m, err
}

// traces says what Forget does not reach; base is the file of the base model.
func (g *gallery) traces(gone map[ID]bool, base string) (left []string) {
	if slices.ContainsFunc(g.state.samples, func(s model.SampleID) bool { return gone[ID(s.Content)] }) {
		left = append(left, base+" learned some of the photos before the journal began, "+
			"and does not keep its embeddings: "+
			"use pipeline forget on a copy of it, and teach that with a new journal")
	}
	if slices.ContainsFunc(g.photos, func(p Photo) bool { return gone[p.ID] && p.Path != "" }) {
		left = append(left, "the files themselves are still in the folder, and will be shown again")
	}
	return append(left,
		"the cache of embeddings, which all models share: "+
			"delete embeddings (and paths, if 0.2 left it) in the folder that pipeline doctor names; "+
			"they are made again from the files that are left",
		"what browsers keep of the pictures, labels that were exported, and "+
			"copies of the model and its journal elsewhere")
}
