package lowrank

import (
	"fmt"
	"math"

	"github.com/seed-90d10d51/pipeline/classifier"
)

// Tensors returns those of gs, of dimension d: "count", "components"
// (n) and "mean" (n×d) in their own order, and, stacked in the given one, "values" and
// "basis" (×d, float32); names begin with prefix.
func Tensors(gs []Gaussian, prefix string, order []int, d int) map[string]classifier.Tensor {
	counts, components, rows := make([]int, len(gs)), make([]int, len(gs)), 0
	mean := make([]float64, 0, len(gs)*d)
	for i := range gs {
		counts[i], components[i] = gs[i].N, len(gs[i].Values)
		rows += components[i]
		mean = append(mean, gs[i].Mean...)
	}
	values, basis := make([]float64, 0, rows), make([]float32, 0, rows*d)
	for _, i := range order {
		values, basis = append(values, gs[i].Values...), append(basis, gs[i].Basis...)
	}
	return map[string]classifier.Tensor{
		prefix + "count":      classifier.CountTensor(counts),
		prefix + "components": classifier.CountTensor(components),
		prefix + "mean":       {Shape: []int{len(gs), d}, F64: mean},
		prefix + "values":     {Shape: []int{rows}, F64: values},
		prefix + "basis":      {Shape: []int{rows, d}, F32: basis},
	}
}

// FromTensors returns the n Gaussians of at most q components that Tensors
// stacked in the same order.
func FromTensors(s classifier.State, prefix string, n, d, q int, lambda float64, order []int) ([]Gaussian, error) {
	counts, err := s.Counts(prefix+"count", n, 1, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	components, err := s.Counts(prefix+"components", n, 0, min(q, d))
	if err != nil {
		return nil, err
	}
	rows := 0
	for _, k := range components {
		rows += k
	}
	mean, err := s.Float64(prefix+"mean", n, d)
	if err != nil {
		return nil, err
	}
	values, err := s.Float64(prefix+"values", rows)
	if err != nil {
		return nil, err
	}
	basis, err := s.Float32(prefix+"basis", rows, d)
	if err != nil {
		return nil, err
	}
	for _, v := range values {
		if v <= 0 {
			return nil, fmt.Errorf("tensor %svalues: %g is not a variance", prefix, v)
		}
	}
	gs := make([]Gaussian, n)
	row := 0
	for _, i := range order {
		k := components[i]
		gs[i] = Gaussian{N: counts[i], Mean: mean[i*d : (i+1)*d], Values: values[row : row+k], Basis: basis[row*d : (row+k)*d], Lambda: lambda}
		row += k
	}
	return gs, nil
}
