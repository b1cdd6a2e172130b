package vargp

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// A Snapshot is the serialisable state of a model.
type Snapshot struct {
	Tasks int `json:"tasks"`
	// HyperMean and HyperLogVar (1+d) are the means and log-variances of log γ and
	// log σ.
	HyperMean   []float64 `json:"hyper_mean"`
	HyperLogVar []float64 `json:"hyper_log_var"`
	// Network holds φ, W and b layer by layer; empty without a network.
	Network []float64 `json:"network,omitempty"`
	// Group is the group of each head.
	Group []int `json:"group"`
	// Blocks are the blocks of each group, task by task.
	Blocks [][]Block `json:"blocks"`
}

// A Block is the serialisable state of one task in a group.
type Block struct {
	// Size is M; Z is M×d, Mean H×M, Chol H×M×M.
	Size int       `json:"size"`
	Z    []float64 `json:"z"`
	Mean []float64 `json:"mean"`
	Chol []float64 `json:"chol"`
}

// Snapshot returns a copy of everything but the settings.
func (m *Model) Snapshot() Snapshot {
	s := Snapshot{Tasks: m.tasks, HyperMean: slices.Clone(m.mean), HyperLogVar: slices.Clone(m.logVar)}
	s.Network = slices.Concat(m.net.parts()...)
	for _, p := range m.home {
		s.Group = append(s.Group, p.group)
	}
	for _, g := range m.groups {
		var blocks []Block
		for _, b := range g.blocks {
			out := Block{Size: b.z.Rows, Z: slices.Clone(b.z.Data), Mean: slices.Clone(b.mean.Data)}
			for _, l := range b.chol {
				out.Chol = append(out.Chol, l.Data...)
			}
			blocks = append(blocks, out)
		}
		s.Blocks = append(s.Blocks, blocks)
	}
	return s
}

// Restore returns the model of a snapshot, which need not be trusted: it is
// validated.
func Restore(cfg Config, dim int, s Snapshot) (*Model, error) {
	if len(s.Group) == 0 || s.Tasks < 1 {
		return nil, fmt.Errorf("%d heads after %d tasks", len(s.Group), s.Tasks)
	}
	for _, v := range slices.Concat(s.HyperMean, s.HyperLogVar) {
		if !(math.Abs(v) < 300) {
			return nil, fmt.Errorf("log-hyper-parameter %g is outside ±300", v)
		}
	}
	n := cfg.Parameters(dim)
	if dim < 1 || len(s.Network) != n {
		return nil, fmt.Errorf("%d parameters of a network of %d", len(s.Network), n)
	}
	m, err := New(cfg, dim, 1, 1)
	if err != nil {
		return nil, err
	}
	if len(s.HyperMean) != len(m.mean) || len(s.HyperLogVar) != len(m.mean) {
		return nil, fmt.Errorf("%d and %d hyper-parameters, the kernel has %d", len(s.HyperMean), len(s.HyperLogVar),
			len(m.mean))
	}
	if err := m.net.restore(s.Network); err != nil {
		return nil, err
	}
	m.mean, m.logVar, m.tasks, m.home = slices.Clone(s.HyperMean), slices.Clone(s.HyperLogVar), s.Tasks, nil
	if err := m.restoreHeads(s); err != nil {
		return nil, err
	}
	if err := m.restoreBlocks(s); err != nil {
		return nil, err
	}
	return m, m.fits()
}

func (m *Model) restoreHeads(s Snapshot) error {
	groups := len(s.Blocks)
	if m.cfg.OwnInputs && groups != len(s.Group) || !m.cfg.OwnInputs && groups != 1 {
		return fmt.Errorf("%d groups of %d heads, own_inputs %v", groups, len(s.Group), m.cfg.OwnInputs)
	}
	for h, g := range s.Group {
		if g < 0 || g >= groups || m.cfg.OwnInputs && g != h {
			return fmt.Errorf("head %d is in group %d of %d", h, g, groups)
		}
		m.home = append(m.home, place{group: g})
	}
	m.groups = make([]group, groups)
	m.number()
	return nil
}

func (m *Model) restoreBlocks(s Snapshot) error {
	heads := m.headsOf()
	for g, blocks := range s.Blocks {
		if len(blocks) == 0 || len(blocks) != len(s.Blocks[0]) {
			return fmt.Errorf("group %d has inducing inputs of %d tasks", g, len(blocks))
		}
		for t, from := range blocks {
			b, err := restoreBlock(from, heads[g], m.dim)
			if err != nil {
				return fmt.Errorf("group %d, task %d: %w", g, t+1, err)
			}
			m.groups[g].blocks = append(m.groups[g].blocks, b)
		}
	}
	return nil
}

func restoreBlock(s Block, heads, dim int) (block, error) {
	n := s.Size
	if n < 1 || len(s.Z)%n != 0 || len(s.Z)/n != dim || len(s.Mean)%n != 0 || len(s.Mean)/n != heads ||
		len(s.Chol) != len(s.Mean)*n {
		return block{}, fmt.Errorf("%d inducing inputs with %d, %d and %d numbers",
			n, len(s.Z), len(s.Mean), len(s.Chol))
	}
	for _, v := range [][]float64{s.Z, s.Mean, s.Chol} {
		if slices.ContainsFunc(v, func(x float64) bool { return x-x != 0 }) {
			return block{}, errors.New("a value is a NaN or an infinity")
		}
	}
	b := block{z: matrix(n, dim, s.Z), mean: matrix(heads, n, s.Mean)}
	for h := range heads {
		l := matrix(n, n, s.Chol[h*n*n:(h+1)*n*n])
		for i := range n {
			if !(l.Data[i*n+i] > 0) ||
				slices.ContainsFunc(l.Data[i*n+i+1:(i+1)*n], func(x float64) bool { return x != 0 }) {
				return block{}, fmt.Errorf("head %d has no lower triangle with a positive diagonal", h)
			}
		}
		b.chol = append(b.chol, l)
	}
	return b, nil
}

func matrix(rows, cols int, data []float64) blas64.General {
	m := dense.New(rows, cols)
	copy(m.Data, data)
	return m
}
