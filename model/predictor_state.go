package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
	"github.com/seed-90d10d51/pipeline/dkl"
)

// Prefixes of tensor names.
const (
	headPrefix       = "head."
	projectionPrefix = "projection."
	keptPrefix       = "kept."
	noveltyPrefix    = "calibration."
)

// Tensors of the calibration.
const (
	noveltyTensor = noveltyPrefix + "novelty"
	fewTensor     = noveltyPrefix + "novelty_few"
	otherTensor   = noveltyPrefix + "novelty_other"
)

// predictorState holds the settings of a saved Predictor.
type predictorState struct {
	// Temperature is as configured: 0 if it is fitted.
	Temperature float64            `json:"temperature"`
	Fit         *temperature.Value `json:"temperature_fit,omitempty"`
	OldShare    OldShare           `json:"old_share,omitempty"`
	// BaseClasses is the number of classes of the base session, which come first.
	BaseClasses int `json:"base_classes"`
	// Calibration and its quantiles are as in calibration.Calibration.
	Calibration  calibration.Calibration `json:"calibration"`
	Uncalibrated bool                    `json:"uncalibrated,omitempty"`
	// KeepsAll reports that every example that was learned is kept.
	KeepsAll bool `json:"keeps_all,omitempty"`
	// Seed is that of the pseudo-sessions.
	Seed uint64        `json:"seed"`
	DKL  *dkl.Settings `json:"dkl,omitempty"`
	// Comparison is why there is a projection or none.
	Comparison *Comparison `json:"comparison,omitempty"`
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
// "head.", those of the projection's with "projection.", those of kept
// embeddings with "kept.", those of the calibration with "calibration.".
func (p *Predictor) Save() (classifier.State, error) {
	head, err := p.saveHead()
	if err != nil {
		return classifier.State{}, err
	}
	set := predictorState{
		Temperature: p.temperature.Temperature, Fit: p.Temperature, OldShare: p.OldShare, BaseClasses: len(p.base),
		Calibration: p.Calibration, Uncalibrated: p.uncalibrated,
		KeepsAll: p.kept.complete(), Seed: p.seed, DKL: p.dkl, Comparison: p.Comparison, Head: head.Settings,
	}
	tensors, err := p.kept.tensors(p.Classes())
	if err != nil {
		return classifier.State{}, err
	}
	if tensors == nil {
		tensors = make(map[string]classifier.Tensor)
	}
	held := p.Calibration.Novelty
	for name, q := range map[string][]float64{
		noveltyTensor: held.Quantiles, fewTensor: held.Few, otherTensor: held.Other,
	} {
		if q != nil {
			tensors[name] = classifier.Tensor{Shape: []int{len(q)}, F64: slices.Clone(q)}
		}
	}
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
// its head, and fresh returns unfitted heads with the same settings.
func loadPredictor(s classifier.State, loadHead func(classifier.State) (classifier.Learner, error),
	fresh func() (classifier.Learner, error)) (*Predictor, error) {
	var saved predictorState
	if err := s.Decode(&saved); err != nil {
		return nil, err
	}
	head := classifier.State{Settings: saved.Head, Tensors: map[string]classifier.Tensor{}}
	own := classifier.State{Settings: saved.Projection, Tensors: map[string]classifier.Tensor{}}
	for name, t := range s.Tensors {
		if short, ok := strings.CutPrefix(name, projectionPrefix); ok {
			own.Tensors[short] = t
		} else if short, ok := strings.CutPrefix(name, headPrefix); ok {
			head.Tensors[short] = t
		}
	}
	p := &Predictor{
		Temperature: saved.Fit, OldShare: saved.OldShare, Calibration: saved.Calibration, Comparison: saved.Comparison,
		recipe: recipe{temperature: temperature.Config{Temperature: saved.Temperature},
			uncalibrated: saved.Uncalibrated, seed: saved.Seed, dkl: saved.DKL, fresh: fresh},
	}
	var err error
	if p.Head, err = loadHead(head); err != nil {
		return nil, err
	}
	fitted := len(p.Classes()) > 0
	if err := saved.OldShare.Validate(); err != nil {
		return nil, err
	}
	n := saved.BaseClasses
	if n < 0 || n > len(p.Classes()) {
		return nil, fmt.Errorf("%d of %d classes are of the base session", n, len(p.Classes()))
	}
	if fitted {
		p.base = set(p.Classes()[:saved.BaseClasses])
	}
	if err := p.Temperature.Check(p.temperature, fitted); err != nil {
		return nil, err
	}
	if err := loadNovelty(&p.Calibration.Novelty, s, fitted); err != nil {
		return nil, fmt.Errorf("calibration: %w", err)
	}
	if p.dkl != nil {
		if err := p.dkl.Validate(); err != nil {
			return nil, err
		}
	}
	switch there := len(saved.Projection) > 0; {
	case there != (fitted && p.dkl != nil && (p.Comparison == nil || p.Comparison.pays())), p.Comparison != nil &&
		!(fitted && p.dkl != nil):
		return nil, fmt.Errorf("dkl: the projection is missing or not expected")
	case !there:
		if err := own.CheckUnfitted(); err != nil {
			return nil, err
		}
		p.kept, err = loadKept(s, p.Classes(), p.Dim(), saved.KeepsAll)
		return p, err
	}
	if p.Projection, err = dkl.Load(own); err != nil {
		return nil, fmt.Errorf("dkl: %w", err)
	}
	if p.Projection.Dim() != p.Head.Dim() {
		return nil, fmt.Errorf("dkl: the projection has %d dimensions, the head %d", p.Projection.Dim(), p.Head.Dim())
	}
	p.kept, err = loadKept(s, p.Classes(), p.Dim(), saved.KeepsAll)
	return p, err
}

// loadNovelty completes n with its quantiles, which exist unless there is a
// reason why not; models of 0.1 have none of another occasion.
func loadNovelty(n *calibration.Novelty, s classifier.State, fitted bool) error {
	var err error
	if fitted && n.Reason == "" {
		if n.Quantiles, err = s.Float64(noveltyTensor, calibration.Quantiles); err != nil {
			return err
		}
	}
	if n.Shots != 0 {
		if n.Few, err = s.Float64(fewTensor, calibration.Quantiles); err != nil {
			return err
		}
	}
	if _, ok := s.Tensors[otherTensor]; ok {
		if n.Other, err = s.Float64(otherTensor, calibration.Quantiles); err != nil {
			return err
		}
	}
	return n.Check()
}
