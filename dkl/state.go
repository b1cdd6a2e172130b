package dkl

import (
	"fmt"
	"slices"

	"github.com/seed-90d10d51/pipeline/classifier"
)

type headSettings struct {
	Config Config           `json:"config"`
	In     int              `json:"in"`
	Frame  classifier.Frame `json:"frame,omitzero"`
}

// Save returns the settings and the tensors "out.weight" (D×H, or D×d in a linear
// head) and "out.bias" (D); with a hidden layer also "hidden.weight" (H×d) and
// "hidden.bias" (H), and with a trained skip "skip.weight" (D×d).
func (h *Projection) Save() (classifier.State, error) {
	tensors, flat := make(map[string]classifier.Tensor), slices.Clone(h.theta)
	for _, t := range h.shape.tensors() {
		n := t.size()
		tensors[t.name] = classifier.Tensor{Shape: t.shape, F64: flat[:n:n]}
		flat = flat[n:]
	}
	return classifier.NewState(headSettings{h.cfg, h.shape.in, h.frame}, tensors)
}

// Load returns the head that Save described.
func Load(state classifier.State) (*Projection, error) {
	var set headSettings
	var s shape
	var theta []float64
	err := state.Decode(&set)
	if err == nil {
		err = set.Config.Validate()
	}
	if err == nil {
		s, err = newShape(set.In, set.Config)
	}
	if err == nil {
		err = set.Frame.Check(set.In)
	}
	for _, t := range s.tensors() { // no more memory than the state holds
		var values []float64
		if err == nil {
			values, err = state.Float64(t.name, t.shape...)
		}
		theta = append(theta, values...)
	}
	if err != nil {
		return nil, fmt.Errorf("projection head: load: %w", err)
	}
	h := newHead(set.Config, s, theta)
	h.frame = set.Frame
	return h, nil
}
