package gpsoftmax

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/exemplars"
)

type settings struct {
	Method string `json:"method"`
	Config Config `json:"config"`
	classifier.Learned
	Frame classifier.Frame `json:"frame,omitzero"`
}

// Save implements classifier.Saver: tensors "count" (C) and "points" (n×d), the
// embeddings themselves, by class, and "draws" (D×C×r), the draws of the
// chains, with classes sorted by name.
func (h *Head) Save() (classifier.State, error) {
	set := settings{Method: h.method, Config: h.cfg, Learned: classifier.Learned{Dim: h.Dim(), Classes: h.Classes()},
		Frame: h.Frame}
	if h.model == nil {
		return classifier.NewState(set, nil)
	}
	tensors := h.All.Tensors()
	tensors["draws"] = classifier.Tensor{Shape: h.model.shape(), F64: slices.Clone(h.model.draws.Data)}
	return classifier.NewState(set, tensors)
}

// shape returns the shape of the draws: number, classes, width of the basis.
func (m *model) shape() []int { return []int{m.open.Rows, m.classes, m.phi.Cols} }

// Load returns the head that Save described, which must be of the given method.
func Load(method string, s classifier.State) (*Head, error) {
	return classifier.LoadHead(method, s, func(set settings) (*Head, error) {
		if set.Method != method {
			return nil, fmt.Errorf("the head belongs to method %s", set.Method)
		}
		return New(method, set.Config)
	}, (*Head).restore)
}

func (h *Head) restore(s classifier.State, set settings) error {
	if err := set.Frame.Check(set.Dim); err != nil {
		return err
	}
	h.Frame = set.Frame
	var err error
	if h.All, err = exemplars.Load(s, set.Learned, make([]int, len(set.Classes)), h.cfg.MaxPerClass); err != nil {
		return err
	}
	if err := h.cfg.fits(h.method, h.All); err != nil {
		return err
	}
	if D := h.cfg.Chains * h.cfg.Draws; len(s.Tensors["draws"].F64)/D < len(h.All.Classes) { // before allocating them
		return fmt.Errorf("tensor draws: too few values for %d draws of %d classes", D, len(h.All.Classes))
	}
	m, err := newModel(h.method, h.cfg, h.All)
	if err != nil {
		return err
	}
	draws, err := s.Float64("draws", m.shape()...)
	if err != nil {
		return err
	}
	m.draws = blas64.General{Rows: m.open.Rows * m.classes, Cols: m.phi.Cols, Stride: max(1, m.phi.Cols), Data: draws}
	h.model = m
	return nil
}
