package teach

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/teach/project"
)

// Merge learns what was decided with another MODEL file of the same network, as of its
// journal, which may be open elsewhere: the photos that a person or list gave a class there,
// or set aside as of no class or of several. It is one line, as of Import, with the same conflicts.
// What is not merged, such as photos for later, Outcome.LeftOut counts.
func (s *Session) Merge(file string, prefer Preference) (model.Outcome, error) {
	m, err := s.decidedIn(file)
	if err != nil {
		return model.Outcome{}, fmt.Errorf("merge %s: %w", file, err)
	}
	var o model.Outcome
	if len(m.taught.Labels)+len(m.aside) > 0 {
		o, err = s.learn(m.taught, m.aside, prefer,
			ConflictsError{This: shownName(s.options.Model), Other: shownName(file)})
	}
	o.LeftOut = m.leftOut()
	return o, err
}

// shownName names a MODEL file for people: by its project, if it is in one.
func shownName(file string) string {
	if dir := filepath.Dir(file); project.Is(dir) {
		return dataset.EscapePath(project.Project{Dir: dir}.Name())
	}
	return dataset.EscapePath(filepath.Base(file))
}

// A merging is what was decided with another MODEL file, in the order in which that was decided.
type merging struct {
	taught model.Batch
	aside  []Aside
	// later photos, and those that were accepted in bulk, stay there; of lost ones nobody has the
	// embedding that is needed here.
	later, accepted, lost int
	// renamed are classes that both models have, and which were renamed there.
	renamed []string
}

// decidedIn returns what was decided with another MODEL file.
func (s *Session) decidedIn(file string) (m merging, err error) {
	theirs, row, err := s.readOther(file)
	if err != nil {
		return m, err
	}
	marks := theirs.marks
	ids := slices.SortedFunc(maps.Keys(marks), func(a, c ID) int {
		return cmp.Or(cmp.Compare(marks[a].seq, marks[c].seq), cmp.Compare(marks[a].at, marks[c].at),
			cmp.Compare(a.String(), c.String()))
	})
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.fill(ids, marks, row); err != nil {
		return m, err
	}
	m.taught.X = dense.New32(0, s.options.Dim)
	for _, id := range ids {
		m.add(id, marks[id], s.pathOf(id), row[id], s.state.unkept(id) && !s.stored(id))
	}
	current, there := s.state.current(), theirs.current()
	for _, class := range theirs.classes {
		if name := theirs.name(class); slices.Contains(current, class) && !slices.Contains(there, class) {
			m.renamed = append(m.renamed, fmt.Sprintf("%q is %q there", class, name))
		}
	}
	return m, nil
}

// readOther reads the files beside another MODEL file, and returns the state that follows from them
// and the embeddings that they have.
func (s *Session) readOther(file string) (*state, map[ID][]float32, error) {
	j, err := readJournal(file + journalSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, errors.New("nothing was decided with it: it has no journal")
	}
	if err != nil {
		return nil, nil, err
	}
	base, err := model.Load(file + baseSuffix)
	if err != nil {
		return nil, nil, err
	}
	if base.Provenance.Backbone.SHA256 != s.Base().Provenance.Backbone.SHA256 {
		return nil, nil, errors.New("another network looked at its photos, so its embeddings mean nothing here")
	}
	if err := s.Base().Accepts(base.Provenance); err != nil {
		return nil, nil, err
	}
	row, _ := keptOf(base)
	maps.Copy(row, j.embeddings)
	maps.DeleteFunc(row, func(_ ID, x []float32) bool { return len(x) != s.options.Dim })
	return fold(j.lines, originOf(base)), row, nil
}

// fill adds the embeddings of marked photos that are only here.
func (s *Session) fill(ids []ID, marks map[ID]mark, row map[ID][]float32) error {
	var lacking []ID
	for _, id := range ids {
		if by := marks[id].by; row[id] == nil && by != label.Bulk && by != label.Skipped {
			if row[id] = s.row(id); row[id] == nil {
				lacking = append(lacking, id)
			}
		}
	}
	found, err := s.atHand(lacking)
	maps.Copy(row, found)
	return err
}

// add adds what was decided about a photo; unlearns says that its embedding is needed to set it aside.
func (m *merging) add(id ID, decided mark, path string, x []float32, unlearns bool) {
	taught := decided.by.Teaches()
	switch {
	case decided.by == label.Skipped:
		m.later++
	case decided.by == label.Bulk:
		m.accepted++
	case x == nil && (taught || unlearns):
		m.lost++
	case taught:
		b := &m.taught
		b.X.Rows, b.X.Data = b.X.Rows+1, append(b.X.Data, x...)
		b.Labels, b.Content = append(b.Labels, decided.class()), append(b.Content, model.Hash(id))
		b.Paths = append(b.Paths, path)
	default:
		m.aside = append(m.aside, Aside{Content: model.Hash(id), Path: path, Labels: decided.labels(), Vector: x})
	}
}

// leftOut says what is not merged.
func (m *merging) leftOut() (out []string) {
	for _, c := range []struct {
		n    int
		what string
	}{
		{m.later, "photos are for later there"},
		{m.accepted, "labels were accepted in bulk there"},
		{m.lost, "decisions are about photos of which neither project has the embedding: put these into the folder"},
	} {
		if c.n > 0 {
			out = append(out, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	for _, class := range m.renamed {
		out = append(out, "a class was renamed, rename it here too: "+class)
	}
	return out
}

// pathOf names a photo for people: by its file, or else by the beginning of its hash.
func (a *album) pathOf(id ID) string {
	if i, ok := a.index[id]; ok && a.photos[i].Path != "" {
		return a.photos[i].Path
	}
	return "photo " + id.String()[:12]
}
