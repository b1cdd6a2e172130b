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

type softmaxSettings struct {
	Classes int `json:"classes"`
	Dim     int `json:"dim"`
}

func (s softmaxSettings) tensors() []tensor {
	return []tensor{{"weight", []int{s.Classes, s.Dim}}, {"bias", []int{s.Classes}}}
}

// Save returns the settings and the tensors "weight" (C×D) and "bias" (C).
func (s *Softmax) Save() (classifier.State, error) {
	set := softmaxSettings{s.classes, s.dim}
	return classifier.NewState(set, toTensors(s.theta, set.tensors()))
}

// LoadSoftmax returns the classifier that Save described.
func LoadSoftmax(state classifier.State) (*Softmax, error) {
	var set softmaxSettings
	if err := state.Decode(&set); err != nil {
		return nil, fmt.Errorf("softmax: load: %w", err)
	}
	if err := checkSoftmax(set.Dim, set.Classes); err != nil {
		return nil, fmt.Errorf("softmax: load: %w", err)
	}
	theta, err := fromTensors(state, set.tensors())
	if err != nil {
		return nil, fmt.Errorf("softmax: load: %w", err)
	}
	return newSoftmax(set.Dim, set.Classes, theta), nil
}
