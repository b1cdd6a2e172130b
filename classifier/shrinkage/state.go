package shrinkage

import (
	"fmt"
	"maps"
	"math"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/classtable"
	"github.com/seed-90d10d51/pipeline/classifier/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/gauss"
	"github.com/seed-90d10d51/pipeline/classifier/moments"
)

// Load returns the head that Save described, without statistics; it must be
// the named method.
func Load(method string, s classifier.State) (*Head, error) {
	return classtable.Load(method, s, func(cfg Config) (*Head, error) { return New(method, cfg) })
}

// encode returns tensors "count" (C), "sum" (C×d) and "base" (C, 1 or 0); the
// space "origin" (d), "whiten" (d×d), "directions" (r×d), "beta" (r); what
// classes have of their own, "components" (C), "residual" (C) and, stacked over
// the classes, "values" (Σq) and "vectors" (Σq×d, float32); "logits" (base
// classes×(d+1)), without rows where the setting does not rank again.
func encode(m *model) map[string]classifier.Tensor {
	n, d := m.Classes.Len(), m.Dim
	totals, base, components, residual := make([]moments.Total, n), make([]int, n), make([]int, n), make([]float64, n)
	values, vectors, logits := []float64{}, []float32{}, []float64{}
	for i, c := range m.Classes.Values() {
		totals[i], components[i], residual[i] = c.Total, len(c.own.values), c.own.residual
		if c.base {
			base[i] = 1
		}
		values, vectors, logits = append(values, c.own.values...), append(vectors, c.own.vectors...), append(logits, c.logit...)
	}
	tensors := moments.TotalTensors(totals, d)
	maps.Copy(tensors, m.Shared.space.Tensors())
	tensors["base"], tensors["components"] = classifier.CountTensor(base), classifier.CountTensor(components)
	tensors["residual"] = classifier.Tensor{Shape: []int{n}, F64: residual}
	tensors["values"] = classifier.Tensor{Shape: []int{len(values)}, F64: values}
	tensors["vectors"] = classifier.Tensor{Shape: []int{len(values), d}, F32: vectors}
	tensors["logits"] = classifier.Tensor{Shape: []int{len(logits) / (d + 1), d + 1}, F64: logits}
	return tensors
}

func (c Config) decode(m *model, s classifier.State, n int) ([]class, error) {
	sh := &m.Shared
	if err := sh.check(c); err != nil {
		return nil, err
	}
	var err error
	if sh.space, err = gauss.LoadSpace(s, m.Dim, sh.Rank, sh.Rest); err != nil {
		return nil, err
	}
	sh.space.Certain = !c.Uncertain
	totals, err := moments.LoadTotals(s, n, m.Dim)
	if err != nil {
		return nil, err
	}
	base, err := s.Counts("base", n, 0, 1)
	if err != nil {
		return nil, err
	}
	own, err := loadSpreads(s, n, m.Dim, c.Q)
	if err != nil {
		return nil, err
	}
	classes, ranked := make([]class, n), 0
	for i := range classes {
		classes[i] = class{Total: totals[i], base: base[i] == 1, own: own[i]}
		ranked += base[i]
	}
	if sh.Setting.Rerank == 0 {
		ranked = 0
	}
	logits, err := s.Float64("logits", ranked, m.Dim+1)
	if err != nil {
		return nil, err
	}
	for i := range classes {
		if classes[i].base && ranked > 0 {
			classes[i].logit, logits = logits[:m.Dim+1], logits[m.Dim+1:]
		}
	}
	return classes, nil
}

// check returns an error unless the setting belongs to the configuration.
func (sh *shared) check(c Config) error {
	if err := checkSetting(sh.Setting); err != nil {
		return err
	}
	if c.chooses() != (sh.Choice != nil) {
		return fmt.Errorf("the configuration does not go with the recorded choice")
	}
	if sh.Choice == nil {
		if sh.Setting != plain(c.Nu) {
			return fmt.Errorf("setting %+v is not that of the configuration", sh.Setting)
		}
		return nil
	}
	if sh.Choice.Value != sh.Setting {
		return fmt.Errorf("setting %+v is not the chosen one", sh.Setting)
	}
	if err := episodes.Valid(*sh.Choice, checkSetting); err != nil {
		return fmt.Errorf("choice: %w", err)
	}
	return nil
}

func loadSpreads(s classifier.State, n, d, q int) ([]spread, error) {
	components, err := s.Counts("components", n, 0, min(q, d))
	if err != nil {
		return nil, err
	}
	rows := 0
	for _, k := range components {
		rows += k
	}
	residual, err := s.Float64("residual", n)
	if err != nil {
		return nil, err
	}
	values, err := s.Float64("values", rows)
	if err != nil {
		return nil, err
	}
	vectors, err := s.Float32("vectors", rows, d)
	if err != nil {
		return nil, err
	}
	for _, v := range append(values[:rows:rows], residual...) {
		if !(v >= 0 && v <= math.MaxFloat32) {
			return nil, fmt.Errorf("tensors values and residual: %g is not a variance", v)
		}
	}
	out := make([]spread, n)
	for i, k := range components {
		out[i] = spread{values: values[:k:k], vectors: vectors[: k*d : k*d], residual: residual[i]}
		values, vectors = values[k:], vectors[k*d:]
	}
	return out, nil
}
