package dkl

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/classifier"
)

type headSettings struct {
	Config Config `json:"config"`
	In     int    `json:"in"`
}

// Save returns the settings and the tensors "out.weight" (D×H, or D×d in a linear
// head) and "out.bias" (D); with a hidden layer also "hidden.weight" (H×d) and
// "hidden.bias" (H), and with a trained skip "skip.weight" (D×d).
func (h *Head) Save() (classifier.State, error) {
	return classifier.NewState(headSettings{h.cfg, h.shape.in}, toTensors(h.theta, h.shape.tensors()))
}

// Load returns the head that Save described.
func Load(state classifier.State) (*Head, error) {
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
		theta, err = fromTensors(state, s.tensors())
	}
	if err != nil {
		return nil, fmt.Errorf("projection head: load: %w", err)
	}
	return newHead(set.Config, s, theta), nil
}
