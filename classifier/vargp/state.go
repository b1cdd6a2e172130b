package vargp

import (
	"fmt"
	"math"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/gp/vargp"
)

type settings struct {
	Config Config `json:"config"`
	classifier.Learned
	Frame classifier.Frame `json:"frame,omitzero"`
	Tasks int              `json:"tasks"`
	// Richest is the largest mean of Counts over a session's classes, after that
	// session.
	Richest float64 `json:"richest"`
}

// Save implements classifier.Saver, with H = C+1 heads in G groups (1, or H
// with own_inputs) and inducing inputs of T sessions, M_t each: tensors "sizes"
// (T), "hypers" (2×(1+D): means and log-variances of log γ and log σ), "z"
// (G·ΣM × d), "mean" (H·ΣM) and "chol" (H·ΣM²), group by group and session by
// session; "network" (weights and biases, layer by layer) if there is one, in
// which case D is its output dimension, otherwise d; "count" (C), examples of
// each class.
func (h *VARGP) Save() (classifier.State, error) {
	if h.model == nil {
		return classifier.NewState(settings{Config: h.cfg}, nil)
	}
	s, d := h.model.Snapshot(), h.Dim()
	var sizes []int
	for _, b := range s.Blocks[0] {
		sizes = append(sizes, b.Size)
	}
	var z, mean, chol []float64
	for _, blocks := range s.Blocks {
		for _, b := range blocks {
			z, mean, chol = append(z, b.Z...), append(mean, b.Mean...), append(chol, b.Chol...)
		}
	}
	tensors := map[string]classifier.Tensor{
		"sizes":  classifier.CountTensor(sizes),
		"hypers": {Shape: []int{2, len(s.HyperMean)}, F64: append(s.HyperMean, s.HyperLogVar...)},
		"z":      {Shape: []int{len(z) / d, d}, F64: z},
		"mean":   {Shape: []int{len(mean)}, F64: mean},
		"chol":   {Shape: []int{len(chol)}, F64: chol},
		"count":  classifier.CountTensor(h.counts),
	}
	if n := len(s.Network); n > 0 {
		tensors["network"] = classifier.Tensor{Shape: []int{n}, F64: s.Network}
	}
	return classifier.NewState(settings{h.cfg, classifier.Learned{Dim: d, Classes: h.classes}, h.frame, s.Tasks,
		h.richest}, tensors)
}

// Load returns the head that Save described.
func Load(s classifier.State) (*VARGP, error) {
	return classifier.LoadHead("vargp", s, func(set settings) (*VARGP, error) { return New(set.Config) },
		(*VARGP).restore)
}

func (h *VARGP) restore(s classifier.State, set settings) error {
	snap, err := snapshot(s, set)
	if err != nil {
		return err
	}
	if h.counts, err = s.Counts("count", len(set.Classes), 1, math.MaxInt32); err != nil {
		return err
	}
	if !(set.Richest >= 1 && set.Richest <= math.MaxInt32) {
		return fmt.Errorf("richest: %g examples per class", set.Richest)
	}
	if err := set.Frame.Check(set.Dim); err != nil {
		return err
	}
	h.frame, h.classes, h.richest = set.Frame, set.Classes, set.Richest
	if h.model, err = vargp.Restore(h.cfg.model(), set.Dim, snap); err != nil {
		return err
	}
	h.answer, err = h.model.Predictor()
	return err
}

// snapshot reads the tensors.
func snapshot(s classifier.State, set settings) (vargp.Snapshot, error) {
	out := vargp.Snapshot{Tasks: set.Tasks}
	sizes, err := s.Counts("sizes", len(s.Tensors["sizes"].I64), 1, maxInducing)
	if err != nil {
		return out, err
	}
	groups, heads := 1, 1+len(set.Classes)
	for h := range heads {
		if set.Config.OwnInputs {
			groups = heads
			out.Group = append(out.Group, h)
		} else {
			out.Group = append(out.Group, 0)
		}
	}
	var n, n2 int
	for _, m := range sizes {
		n, n2 = n+m, n2+m*m
	}
	kernelDim := set.Dim
	if n := len(set.Config.Network); n > 0 {
		kernelDim = set.Config.Network[n-1]
		if out.Network, err = s.Float64("network", set.Config.model().Parameters(set.Dim)); err != nil {
			return out, err
		}
	}
	hypers, err := s.Float64("hypers", 2, 1+kernelDim)
	if err != nil {
		return out, err
	}
	out.HyperMean, out.HyperLogVar = hypers[:1+kernelDim], hypers[1+kernelDim:]
	z, err := s.Float64("z", groups*n, set.Dim)
	if err != nil {
		return out, err
	}
	mean, err := s.Float64("mean", heads*n)
	if err != nil {
		return out, err
	}
	chol, err := s.Float64("chol", heads*n2)
	if err != nil {
		return out, err
	}
	take := func(from *[]float64, n int) []float64 {
		taken := (*from)[:n:n]
		*from = (*from)[n:]
		return taken
	}
	of := heads / groups // heads per group
	for range groups {
		var blocks []vargp.Block
		for _, m := range sizes {
			blocks = append(blocks,
				vargp.Block{Size: m, Z: take(&z, m*set.Dim), Mean: take(&mean, of*m), Chol: take(&chol, of*m*m)})
		}
		out.Blocks = append(out.Blocks, blocks)
	}
	return out, nil
}
