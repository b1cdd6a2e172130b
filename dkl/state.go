package dkl

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/classifier"
)

type headSettings struct {
	Config Config `json:"config"`
	In     int    `json:"in"`
}

// Save returns the settings and the tensors "out.weight" (D×H, or D×d in a
// linear head) and "out.bias" (D), with a hidden layer "hidden.weight" (H×d)
// and "hidden.bias" (H), with a trained skip "skip.weight" (D×d).
func (h *Head) Save() (classifier.State, error) {
	return classifier.NewState(headSettings{h.cfg, h.shape.in}, toTensors(h.theta, h.shape.tensors()))
}

// Load returns the head that Save described.
func Load(state classifier.State) (*Head, error) {
	h, err := load(state)
	if err != nil {
		return nil, fmt.Errorf("projection head: load: %w", err)
	}
	return h, nil
}

func load(state classifier.State) (*Head, error) {
	var set headSettings
	if err := state.Decode(&set); err != nil {
		return nil, err
	}
	if err := set.Config.Validate(); err != nil {
		return nil, err
	}
	s, err := newShape(set.In, set.Config)
	if err != nil {
		return nil, err
	}
	theta, err := fromTensors(state, s.tensors())
	if err != nil {
		return nil, err
	}
	return newHead(set.Config, s, theta), nil
}
