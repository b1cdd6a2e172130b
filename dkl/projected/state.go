package projected

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/dkl"
)

// prefix begins the names of the projection's tensors.
const prefix = "projection."

// settings wrap those of the head within.
type settings struct {
	Projected *Config `json:"projected"`
	// Projection is that of package dkl, null before the base session.
	Projection json.RawMessage `json:"projection,omitempty"`
	// Fixed says that the base session does not train it.
	Fixed bool            `json:"fixed,omitempty"`
	Head  json.RawMessage `json:"head"`
}

// A saver saves a projection beside a classifier.Saver.
type saver struct {
	h    *Head
	head classifier.Saver
}

// Save implements classifier.Saver: tensors of the projection have names that
// begin with "projection.", the others are those of the head within, whose
// settings lie under "head".
func (s saver) Save() (classifier.State, error) {
	inner, err := s.head.Save()
	if err != nil {
		return classifier.State{}, err
	}
	set := settings{Projected: &s.h.cfg, Fixed: s.h.fixed, Head: inner.Settings}
	tensors := maps.Clone(inner.Tensors)
	if p := s.h.without(); p != nil {
		own, err := p.Save()
		if err != nil {
			return classifier.State{}, err
		}
		set.Projection = own.Settings
		if tensors == nil {
			tensors = make(map[string]classifier.Tensor)
		}
		for name, t := range own.Tensors {
			tensors[prefix+name] = t
		}
	}
	return classifier.NewState(set, tensors)
}

// Is says whether a state was saved by a head behind a projection.
func Is(s classifier.State) bool {
	var set settings
	return json.Unmarshal(s.Settings, &set) == nil && set.Projected != nil
}

// Load returns the head that Save described; load brings back the head within.
func Load(s classifier.State, load func(classifier.State) (classifier.Learner, error)) (*Head, error) {
	h, err := restored(s, load)
	if err != nil {
		return nil, fmt.Errorf("dkl: %w", err)
	}
	return h, nil
}

func restored(s classifier.State, load func(classifier.State) (classifier.Learner, error)) (*Head, error) {
	var set settings
	if err := s.Decode(&set); err != nil {
		return nil, err
	}
	if set.Projected == nil {
		return nil, fmt.Errorf("there is no projection in the settings")
	}
	inner, own := apart(s, set)
	if err := set.Projected.Training.Validate(); err != nil {
		return nil, err
	}
	if err := set.Projected.GPTree.Validate(); err != nil {
		return nil, err
	}
	h := &Head{cfg: *set.Projected, fixed: set.Fixed}
	var err error
	if h.head, err = load(inner); err != nil {
		return nil, err
	}
	h.remember = func() (func() (classifier.Learner, error), error) { return copies(h.head, load) }
	return h, h.loadProjection(set, own)
}

// apart parts the tensors of the head within from those of the projection.
func apart(s classifier.State, set settings) (inner, own classifier.State) {
	inner, own = classifier.State{Settings: set.Head}, classifier.State{Settings: set.Projection}
	for name, t := range s.Tensors {
		to := &inner
		if short, ok := strings.CutPrefix(name, prefix); ok {
			to, name = &own, short
		}
		if to.Tensors == nil {
			to.Tensors = make(map[string]classifier.Tensor)
		}
		to.Tensors[name] = t
	}
	return inner, own
}

// loadProjection restores g_θ, which goes with a fitted head.
func (h *Head) loadProjection(set settings, own classifier.State) error {
	there, fitted := len(set.Projection) > 0, len(h.head.Classes()) > 0
	if there != (fitted || h.fixed) {
		return fmt.Errorf("a head of %d classes does not go with the presence of a projection", len(h.head.Classes()))
	}
	if !there {
		return own.CheckUnfitted()
	}
	var err error
	if h.projection, err = dkl.Load(own); err != nil {
		return err
	}
	if fitted && h.projection.Dim() != h.head.Dim() {
		return fmt.Errorf("a projection to %d values, and a head of %d", h.projection.Dim(), h.head.Dim())
	}
	return nil
}

// copies returns what makes heads like this one is now.
func copies(head classifier.Learner, load func(classifier.State) (classifier.Learner, error)) (func() (classifier.Learner, error), error) {
	s, ok := classifier.As[classifier.Saver](head)
	if !ok {
		return nil, fmt.Errorf("copy an unfitted head: %w", classifier.ErrUnsupported)
	}
	state, err := s.Save()
	return func() (classifier.Learner, error) { return load(state) }, err
}
