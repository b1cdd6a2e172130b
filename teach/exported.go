package teach

import (
	"cmp"
	"slices"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/label"
)

// An Exported is a file of the folder, and the label that leaves the program.
type Exported struct {
	// Label is "" for a photo that was set aside, is like no class, or has no scores. It is
	// written by dataset.JoinLabels: a photo that shows several things has all.
	Path, Label string
	By          label.By
	// Kept is the file that is kept of a photo that was set aside as a copy, "" for others.
	Kept string
	// Box is nil for a whole photo.
	Box *dataset.Box
	// Probability is what the model says of Label, nil where that is none of the most
	// probable classes; Novelty is nil before the photo is scored.
	Probability, Novelty *float64
	// Rejected reports that nobody decided and the photo is like no class.
	Rejected bool
}

// Labels returns the decided labels of all files of the folder, every copy of a photo
// included, by path.
func (s *Session) Labels() []Exported {
	return s.export(func(id ID) bool { m := s.state.marks[id]; return m.of != nil || m.by == label.Mixed })
}

// Files returns every file of the folder, by path, with its decided label or else the
// predicted one.
func (s *Session) Files() []Exported { return s.export(func(ID) bool { return true }) }

// CopiesAside returns the files that were set aside as copies of one that is kept, by path.
func (s *Session) CopiesAside() []Exported {
	return s.export(func(id ID) bool { return s.state.copyOf(id) != nil })
}

func (s *Session) export(takes func(ID) bool) []Exported {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := []Exported{}
	for path, i := range s.paths {
		if !takes(s.photos[i].ID) {
			continue
		}
		e := s.exported(i)
		e.Path = path
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b Exported) int { return cmp.Compare(a.Path, b.Path) })
	return out
}

// exported returns the label of photo i, without its path.
func (g *gallery) exported(i int) (e Exported) {
	it := g.item(i)
	e.Box = it.Box
	d, decided := g.state.decision(it.ID)
	if !decided {
		d.Class, d.By = it.Label, it.By.Written()
	}
	e.By = d.By
	if of := g.state.copyOf(it.ID); of != nil {
		if at, ok := g.find(*of); ok {
			e.Kept = g.photos[at].Path
		}
	}
	if e.By == label.Detector {
		e.Probability = &it.Box.Confidence
	}
	if it.Top != nil {
		e.Novelty = &it.Novelty
		e.Rejected = e.By == "" && it.Unknown
		if e.By == "" && !it.Unknown {
			d.Class = it.Top[0].Label
		}
	}
	for _, r := range it.Top {
		if r.Label == d.Class {
			e.Probability = &r.Probability
		}
	}
	if d.Class != "" {
		d.Labels = []string{d.Class}
	}
	e.Label = dataset.JoinLabels(d.Labels...)
	return e
}
