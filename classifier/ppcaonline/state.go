package ppcaonline

import (
	"fmt"
	"math"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/ppcaonline/oem"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// A part is one array of a snapshot, or a number.
type part struct {
	name   string
	shape  []int
	array  []float64
	number *float64
}

// partsOf shows the arrays of a snapshot, which a tensor holds of all classes.
func partsOf(s *oem.Snapshot) []part {
	d, q := s.Now.W.Rows, s.Now.W.Cols
	parts := []part{
		{"mean", []int{d}, s.Now.Mean, nil}, {"w", []int{d, q}, s.Now.W.Data, nil}, {"sigma2", nil, nil, &s.Now.Sigma2},
		{"s0", nil, nil, &s.Statistics.S0}, {"s1", []int{d, q}, s.Statistics.S1.Data, nil},
		{"s2", []int{q, q}, s.Statistics.S2.Data, nil}, {"s3", []int{d}, s.Statistics.S3, nil},
	}
	if r := s.Reference; r != nil {
		parts = append(parts, part{"reference.mean", []int{d}, r.Mean, nil}, part{"reference.w", []int{d, q}, r.W.Data, nil}, part{"reference.sigma2", nil, nil, &r.Sigma2})
	}
	return parts
}

// empty returns a snapshot of zeros. Only the class policy has a reference; its
// σ² is 0 where there is none yet.
func (c Config) empty(d int) oem.Snapshot {
	q := c.components(d)
	params := func() oem.Params { return oem.Params{Mean: make([]float64, d), W: dense.New(d, q)} }
	s := oem.Snapshot{Now: params(), Statistics: oem.Statistics{S1: dense.New(d, q), S2: dense.New(q, q), S3: make([]float64, d)}}
	if c.Policy == oem.Class {
		s.Reference = new(params())
	}
	return s
}

// encode returns tensors "steps" (C), "mean", "s3" (C×d), "w", "s1" (C×d×q),
// "sigma2", "s0" (C), "s2" (C×q×q); with the class policy also "reference.mean",
// "reference.w" and "reference.sigma2".
func (c Config) encode(m *model) map[string]classifier.Tensor {
	tensors, steps := make(map[string]classifier.Tensor), make([]int, m.Classes.Len())
	none := c.empty(m.Dim).Reference
	for i, class := range m.Classes.Values() {
		s := class.Snapshot()
		if s.Reference == nil {
			s.Reference = none
		}
		steps[i] = s.Steps
		for _, p := range partsOf(&s) {
			t, ok := tensors[p.name]
			if !ok {
				t = classifier.Tensor{Shape: append([]int{len(steps)}, p.shape...), F64: []float64{}}
			}
			if t.F64 = append(t.F64, p.array...); p.number != nil {
				t.F64 = append(t.F64, *p.number)
			}
			tensors[p.name] = t
		}
	}
	tensors["steps"] = classifier.CountTensor(steps)
	return tensors
}

func (c Config) decode(m *model, s classifier.State, n int) ([]*oem.Model, error) {
	if v := m.Shared.Sigma2; !(v >= 1e-12 && v <= 1e12) {
		return nil, fmt.Errorf("starting_sigma2: %g is outside 1e-12 … 1e12", v)
	}
	steps, err := s.Counts("steps", n, 0, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	snapshots := make([]oem.Snapshot, n)
	for i := range snapshots {
		snapshots[i] = c.empty(m.Dim)
		snapshots[i].Steps = steps[i]
	}
	for at, p := range partsOf(&snapshots[0]) {
		values, err := s.Float64(p.name, append([]int{n}, p.shape...)...)
		if err != nil {
			return nil, err
		}
		for i := range snapshots {
			p := partsOf(&snapshots[i])[at]
			if p.number != nil {
				*p.number = values[i]
				continue
			}
			values = values[copy(p.array, values):]
		}
	}
	models := make([]*oem.Model, n)
	for i, snapshot := range snapshots {
		if snapshot.Reference != nil && snapshot.Reference.Sigma2 == 0 {
			snapshot.Reference = nil
		}
		if models[i], err = oem.Restore(c.engine(m), snapshot); err != nil {
			return nil, fmt.Errorf("class %d: %w", i, err)
		}
	}
	return models, nil
}
