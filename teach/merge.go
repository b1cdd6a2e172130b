package teach

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/model"
)

// Merge learns what was decided with another MODEL file of the same network, as of its
// journal, which may be open elsewhere: the photos that a person or list gave a class there,
// or set aside as of no class or of several. It is one line, as of Import, with the same conflicts.
// Predictions that were accepted there, and photos for later, are not merged.
func (s *Session) Merge(file string, prefer Preference) (model.Outcome, error) {
	b, aside, err := s.decidedIn(file)
	if err != nil {
		return model.Outcome{}, fmt.Errorf("merge %s: %w", file, err)
	}
	if len(b.Labels)+len(aside) == 0 {
		return model.Outcome{}, nil
	}
	return s.Import(b, aside, prefer)
}

// decidedIn returns the photos that have a class in the journal of a MODEL file, and those that were
// set aside there, in the order in which that was decided.
func (s *Session) decidedIn(file string) (b model.Batch, aside []Aside, err error) {
	j, err := readJournal(file + journalSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil, errors.New("nothing was decided with it: it has no journal")
	}
	if err != nil {
		return b, nil, err
	}
	base, err := model.Load(file + baseSuffix)
	if err != nil {
		return b, nil, err
	}
	if base.Provenance.Backbone.SHA256 != s.Base().Provenance.Backbone.SHA256 {
		return b, nil, errors.New("another network looked at its photos, so its embeddings mean nothing here")
	}
	if err := s.Base().Accepts(base.Provenance); err != nil {
		return b, nil, err
	}
	marks := fold(j.lines, originOf(base)).marks
	ids := slices.SortedFunc(maps.Keys(marks), func(a, c ID) int {
		return cmp.Or(cmp.Compare(marks[a].seq, marks[c].seq), cmp.Compare(marks[a].at, marks[c].at),
			cmp.Compare(a.String(), c.String()))
	})
	taught := slices.DeleteFunc(slices.Clone(ids), func(id ID) bool {
		return !marks[id].by.teaches() || marks[id].class() == "" || len(j.embeddings[id]) != s.options.Dim
	})
	b.X = dense.New32(len(taught), s.options.Dim)
	for i, id := range taught {
		copy(dense.Row32(b.X, i), j.embeddings[id])
		b.Labels, b.Content = append(b.Labels, marks[id].class()), append(b.Content, model.Hash(id))
		b.Paths = append(b.Paths, s.pathOf(id))
	}
	for _, id := range ids {
		if by := marks[id].by; by == Ignored || by == Mixed {
			aside = append(aside, Aside{Content: model.Hash(id), Path: s.pathOf(id), Labels: marks[id].labels()})
		}
	}
	return b, aside, nil
}

// pathOf names a photo for people: by its file, or else by the beginning of its hash.
func (s *Session) pathOf(id ID) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if i, ok := s.index[id]; ok && s.photos[i].Path != "" {
		return s.photos[i].Path
	}
	return "photo " + id.String()[:12]
}
