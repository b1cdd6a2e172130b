package model

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/temperature"
	"github.com/seed-90d10d51/pipeline/dkl"
)

// Prefixes of tensor names.
const (
	headPrefix       = "head."
	projectionPrefix = "projection."
)

// predictorState holds the settings of a saved Predictor.
type predictorState struct {
	// Temperature is as configured: 0 if it is fitted.
	Temperature float64            `json:"temperature"`
	Fit         *temperature.Value `json:"temperature_fit,omitempty"`
	DKL         *dklConfig         `json:"dkl,omitempty"`
	// Projection and Head are their settings.
	Projection json.RawMessage `json:"projection,omitempty"`
	Head       json.RawMessage `json:"head"`
}

func (p *Predictor) saveHead() (classifier.State, error) {
	saver, ok := p.Head.(classifier.Saver)
	if !ok {
		return classifier.State{}, fmt.Errorf("the head cannot be saved: %w", classifier.ErrUnsupported)
	}
	return saver.Save()
}

// Save implements classifier.Saver. The names of the head's tensors begin with
// "head.", those of the projection's with "projection.".
func (p *Predictor) Save() (classifier.State, error) {
	head, err := p.saveHead()
	if err != nil {
		return classifier.State{}, err
	}
	set := predictorState{Temperature: p.temperature.Temperature, Fit: p.Temperature, DKL: p.dkl, Head: head.Settings}
	tensors := make(map[string]classifier.Tensor)
	for name, t := range head.Tensors {
		tensors[headPrefix+name] = t
	}
	if p.Projection != nil {
		own, err := p.Projection.Save()
		if err != nil {
			return classifier.State{}, err
		}
		set.Projection = own.Settings
		for name, t := range own.Tensors {
			tensors[projectionPrefix+name] = t
		}
	}
	return classifier.NewState(set, tensors)
}

// loadPredictor restores the Predictor that Save described; loadHead restores
// its head.
func loadPredictor(s classifier.State, loadHead func(classifier.State) (classifier.Learner, error)) (*Predictor, error) {
	var set predictorState
	if err := s.Decode(&set); err != nil {
		return nil, err
	}
	head := classifier.State{Settings: set.Head, Tensors: map[string]classifier.Tensor{}}
	own := classifier.State{Settings: set.Projection, Tensors: map[string]classifier.Tensor{}}
	for name, t := range s.Tensors {
		if short, ok := strings.CutPrefix(name, projectionPrefix); ok {
			own.Tensors[short] = t
		} else {
			head.Tensors[strings.TrimPrefix(name, headPrefix)] = t
		}
	}
	p := &Predictor{temperature: temperature.Config{Temperature: set.Temperature}, Temperature: set.Fit, dkl: set.DKL, load: loadHead}
	var err error
	if p.Head, err = loadHead(head); err != nil {
		return nil, err
	}
	fitted := len(p.Classes()) > 0
	if err := p.Temperature.Check(p.temperature, fitted); err != nil {
		return nil, err
	}
	if p.dkl != nil {
		if err := p.dkl.validate(); err != nil {
			return nil, err
		}
	}
	switch there := len(set.Projection) > 0; {
	case there != (fitted && p.dkl != nil):
		return nil, fmt.Errorf("dkl: the projection is missing or not expected")
	case !there:
		return p, own.CheckUnfitted()
	}
	if p.Projection, err = dkl.Load(own); err != nil {
		return nil, fmt.Errorf("dkl: %w", err)
	}
	if p.Projection.Dim() != p.Head.Dim() {
		return nil, fmt.Errorf("dkl: the projection has %d dimensions, the head %d", p.Projection.Dim(), p.Head.Dim())
	}
	return p, nil
}
