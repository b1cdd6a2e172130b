package temperature

import (
	"encoding/json"
	"fmt"

	"github.com/seed-90d10d51/pipeline/classifier"
)

// settings wrap those of the head within.
type settings struct {
	Tempered *Config         `json:"tempered"`
	Fit      *Fit            `json:"temperature_fit,omitempty"`
	Head     json.RawMessage `json:"head"`
}

// A saver is what saves a temperature beside a classifier.Saver.
type saver struct {
	t    *Tempered
	head classifier.Saver
}

// Save implements classifier.Saver: the tensors are those of the head within,
// whose settings lie under "head".
func (s saver) Save() (classifier.State, error) {
	inner, err := s.head.Save()
	if err != nil {
		return classifier.State{}, err
	}
	return classifier.NewState(settings{&s.t.cfg, s.t.Fit(), inner.Settings}, inner.Tensors)
}

// Is says whether a state was saved by a head with a temperature.
func Is(s classifier.State) bool {
	var set settings
	return json.Unmarshal(s.Settings, &set) == nil && set.Tempered != nil
}

// Load returns the head that Save described; load brings back the head within.
func Load(s classifier.State, load func(classifier.State) (classifier.Learner, error)) (classifier.Learner, error) {
	var set settings
	if err := s.Decode(&set); err != nil {
		return nil, fmt.Errorf("temperature: %w", err)
	}
	if set.Tempered == nil {
		return nil, fmt.Errorf("temperature: there is none in the settings")
	}
	if err := set.Tempered.Validate(); err != nil {
		return nil, err
	}
	inner := classifier.State{Settings: set.Head, Tensors: s.Tensors}
	head, err := load(inner)
	if err != nil {
		return nil, err
	}
	t := &Tempered{cfg: *set.Tempered, head: head, fit: set.Fit}
	t.fresh = func() (func() (classifier.Learner, error), error) { return copies(t.head, load) }
	if err := t.checkFit(); err != nil {
		return nil, fmt.Errorf("temperature: %w", err)
	}
	return t, nil
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

// checkFit returns an error unless a fitted head has a temperature that its
// settings allow, and an unfitted one has none.
func (t *Tempered) checkFit() error {
	if fitted := len(t.head.Classes()) > 0; fitted != (t.fit != nil) {
		return fmt.Errorf("a head of %d classes does not go with the recorded fit", len(t.head.Classes()))
	}
	if t.fit == nil {
		return nil
	}
	if c := t.cfg.Temperature; c != Auto && c != t.fit.Temperature {
		return fmt.Errorf("%g is recorded, the settings say %g", t.fit.Temperature, c)
	}
	return check(t.fit.Temperature)
}
