package gpr

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/exemplars"
	engine "github.com/seed-90d10d51/pipeline/gp/gpr"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

type settings struct {
	Config Config `json:"config"`
	classifier.Learned
	Frame       classifier.Frame `json:"frame,omitzero"`
	Temperature float64          `json:"temperature"`
	Lengthscale float64          `json:"lengthscale"`
	Noise       float64          `json:"noise"`
	Choice      *Choice          `json:"choice,omitempty"`
	LogDet      float64          `json:"log_det"`
	Changes     int              `json:"changes"`
}

// Save implements classifier.Saver: tensors "x" (n×d, the embeddings
// themselves), "class" (n), "factor" (n(n+1)/2), "order" (n), "alpha" (C×n) and
// "diagonal" (n).
func (h *GPR) Save() (classifier.State, error) {
	if h.reg == nil {
		return classifier.NewState(settings{Config: h.cfg}, nil)
	}
	s := h.reg.Snapshot()
	n := len(h.All.Own)
	set := settings{h.cfg, classifier.Learned{Dim: h.Dim(), Classes: h.Classes()}, h.Frame, h.tau, h.lengthscale,
		h.noise, h.choice, s.LogDet, s.Changes}
	return classifier.NewState(set, map[string]classifier.Tensor{
		"x":        {Shape: []int{n, h.Dim()}, F32: slices.Clone(h.All.X.Data)},
		"class":    classifier.CountTensor(h.All.Own),
		"factor":   {Shape: []int{len(s.Factor)}, F64: s.Factor},
		"order":    classifier.CountTensor(s.Order),
		"alpha":    {Shape: []int{s.Alpha.Rows, n}, F64: s.Alpha.Data},
		"diagonal": {Shape: []int{n}, F64: s.Diagonal},
	})
}

// Load returns the head that Save described.
func Load(s classifier.State) (*GPR, error) {
	return classifier.LoadHead("gpr", s, func(set settings) (*GPR, error) { return New(set.Config) }, (*GPR).restore)
}

func (h *GPR) restore(s classifier.State, set settings) error {
	if err := set.check(); err != nil {
		return err
	}
	if err := set.Frame.Check(set.Dim); err != nil {
		return err
	}
	h.Frame = set.Frame
	h.tau, h.chosen = set.Temperature, chosen{set.Lengthscale, set.Noise, set.Choice}
	if err := h.loadExamples(s, set); err != nil {
		return err
	}
	return h.loadRegression(s, set)
}

// check returns an error unless the settings of a fitted head are consistent.
func (s settings) check() error {
	if !(s.Temperature > 0 && s.Temperature < 1e100) || !(s.LogDet-s.LogDet == 0) {
		return fmt.Errorf("temperature %g, log-determinant %g", s.Temperature, s.LogDet)
	}
	used := s.Config
	used.Lengthscale, used.Noise = s.Lengthscale, s.Noise
	err := used.Validate()
	if err != nil || used.Lengthscale == Auto || used.Noise == Auto {
		return fmt.Errorf("length-scale %g and noise %g in use (%w)", s.Lengthscale, s.Noise, err)
	}
	c := s.Config
	if auto := c.Lengthscale == Auto || c.Noise == Auto; auto != (s.Choice != nil) {
		return fmt.Errorf("length-scale %g and noise %g in the configuration do not match the recorded choice",
			c.Lengthscale, c.Noise)
	}
	if s.Choice != nil && (s.Choice.Lengthscale != s.Lengthscale || s.Choice.Noise != s.Noise) {
		return fmt.Errorf("length-scale %g and noise %g are not the recorded choice", s.Lengthscale, s.Noise)
	}
	return nil
}

// loadExamples reads the embeddings and their classes.
func (h *GPR) loadExamples(s classifier.State, set settings) error {
	n := len(s.Tensors["class"].I64)
	t := exemplars.Table{Classes: set.Classes, Sessions: make([]int, len(set.Classes)),
		X: blas32.General{Rows: n, Cols: set.Dim, Stride: set.Dim}}
	var err error
	if t.Own, err = s.Counts("class", n, 0, len(set.Classes)-1); err != nil {
		return err
	}
	if t.X.Data, err = s.Float32("x", n, set.Dim); err != nil {
		return err
	}
	if c := slices.Index(t.Counts(), 0); c >= 0 {
		return fmt.Errorf("class %q has no examples", set.Classes[c])
	}
	h.All = t
	return nil
}

// loadRegression reads the values computed from the examples.
func (h *GPR) loadRegression(s classifier.State, set settings) error {
	n, C := len(h.All.Own), len(h.All.Classes)
	snap := engine.Snapshot{LogDet: set.LogDet, Changes: set.Changes,
		Alpha: blas64.General{Rows: C, Cols: n, Stride: n}}
	var err error
	if snap.Factor, err = s.Float64("factor", n*(n+1)/2); err != nil {
		return err
	}
	if snap.Order, err = s.Counts("order", n, 0, n-1); err != nil {
		return err
	}
	if snap.Alpha.Data, err = s.Float64("alpha", C, n); err != nil {
		return err
	}
	if snap.Diagonal, err = s.Float64("diagonal", n); err != nil {
		return err
	}
	h.reg, err = engine.Restore(h.kernel(h.cfg), h.regression(h.cfg),
		classifier.Placed(h.All.X, dense.Range(0, n), h.cfg.Normalize), labels(h.All.Own, 0, C), snap)
	return err
}
