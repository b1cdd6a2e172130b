package ppcaonline

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/ppcaonline/oem"
)

type settings struct {
	Config Config `json:"config"`
	classifier.Learned
	Sigma2 float64 `json:"starting_sigma2"`
}

// tensors holds what is saved of C classes, stacked: parameters (μ C×d, W
// C×dq, σ² C), the same of the references, and the statistics.
type tensors struct {
	mean, w, sigma2    []float64
	s0, s1, s2, s3     []float64
	rmean, rw, rsigma2 []float64 // σ²* is 0 where there is no reference
	steps              []int
}

func (t *tensors) add(s oem.Snapshot) {
	t.steps = append(t.steps, s.Steps)
	t.mean, t.w, t.sigma2 = append(t.mean, s.Now.Mean...), append(t.w, s.Now.W.Data...), append(t.sigma2, s.Now.Sigma2)
	t.s0, t.s1 = append(t.s0, s.Statistics.S0), append(t.s1, s.Statistics.S1.Data...)
	t.s2, t.s3 = append(t.s2, s.Statistics.S2.Data...), append(t.s3, s.Statistics.S3...)
	r := oem.Params{Mean: make([]float64, len(s.Now.Mean)), W: blas64.General{Data: make([]float64, len(s.Now.W.Data))}}
	if s.Reference != nil {
		r = *s.Reference
	}
	t.rmean, t.rw, t.rsigma2 = append(t.rmean, r.Mean...), append(t.rw, r.W.Data...), append(t.rsigma2, r.Sigma2)
}

// Save implements classifier.Saver: tensors "steps" (C), "mean", "s3" (C×d),
// "w", "s1" (C×d×q), "sigma2", "s0" (C), "s2" (C×q×q); with the class policy
// also "reference.mean", "reference.w" and "reference.sigma2".
func (h *Online) Save() (classifier.State, error) {
	if h.classes.Len() == 0 {
		return classifier.NewState(settings{Config: h.cfg}, nil)
	}
	var t tensors
	for _, m := range h.classes.Values() {
		t.add(m.Snapshot())
	}
	n, d, q := h.classes.Len(), h.dim, h.components()
	f64 := func(values []float64, shape ...int) classifier.Tensor {
		return classifier.Tensor{Shape: append([]int{n}, shape...), F64: append([]float64{}, values...)}
	}
	all := map[string]classifier.Tensor{
		"steps": classifier.CountTensor(t.steps), "mean": f64(t.mean, d), "w": f64(t.w, d, q), "sigma2": f64(t.sigma2),
		"s0": f64(t.s0), "s1": f64(t.s1, d, q), "s2": f64(t.s2, q, q), "s3": f64(t.s3, d),
	}
	if h.cfg.Policy == oem.Class {
		all["reference.mean"], all["reference.w"], all["reference.sigma2"] = f64(t.rmean, d), f64(t.rw, d, q), f64(t.rsigma2)
	}
	return classifier.NewState(settings{h.cfg, classifier.Learned{Dim: h.dim, Classes: h.classes.Names()}, h.sigma2}, all)
}

// Load returns the head that Save described.
func Load(s classifier.State) (*Online, error) {
	h, err := load(s)
	if err != nil {
		return nil, fmt.Errorf("ppca-online: load: %w", err)
	}
	return h, nil
}

func load(s classifier.State) (*Online, error) {
	var set settings
	if err := s.Decode(&set); err != nil {
		return nil, err
	}
	h, err := New(set.Config)
	if err != nil {
		return nil, err
	}
	if fitted, err := set.Check(s); !fitted {
		return h, err
	}
	if !(set.Sigma2 >= 1e-12 && set.Sigma2 <= 1e12) {
		return nil, fmt.Errorf("starting_sigma2: %g is outside 1e-12 … 1e12", set.Sigma2)
	}
	next := *h
	next.dim, next.sigma2 = set.Dim, set.Sigma2
	models, err := next.loadModels(s, len(set.Classes))
	if err != nil {
		return nil, err
	}
	next.classes = classifier.NewTable(set.Classes, models)
	return h, h.become(next)
}

func (h *Online) loadModels(s classifier.State, n int) ([]*oem.Model, error) {
	t, err := h.readTensors(s, n)
	if err != nil {
		return nil, err
	}
	cfg := h.modelConfig()
	models := make([]*oem.Model, n)
	for i := range models {
		if models[i], err = oem.Restore(cfg, t.snapshot(i, h.dim, h.components(), cfg.Policy == oem.Class)); err != nil {
			return nil, fmt.Errorf("class %d: %w", i, err)
		}
	}
	return models, nil
}

func (h *Online) readTensors(s classifier.State, n int) (t tensors, err error) {
	if t.steps, err = s.Counts("steps", n, 0, math.MaxInt32); err != nil {
		return t, err
	}
	d, q := h.dim, h.components()
	fields := []struct {
		name  string
		dst   *[]float64
		shape []int
	}{
		{"mean", &t.mean, []int{n, d}}, {"w", &t.w, []int{n, d, q}}, {"sigma2", &t.sigma2, []int{n}},
		{"s0", &t.s0, []int{n}}, {"s1", &t.s1, []int{n, d, q}}, {"s2", &t.s2, []int{n, q, q}}, {"s3", &t.s3, []int{n, d}},
		{"reference.mean", &t.rmean, []int{n, d}}, {"reference.w", &t.rw, []int{n, d, q}}, {"reference.sigma2", &t.rsigma2, []int{n}},
	}
	if h.cfg.Policy != oem.Class {
		fields = fields[:7]
	}
	for _, f := range fields {
		if *f.dst, err = s.Float64(f.name, f.shape...); err != nil {
			return t, err
		}
	}
	return t, nil
}

// snapshot takes class i out of the stack.
func (t *tensors) snapshot(i, d, q int, withReference bool) oem.Snapshot {
	vector := func(v []float64, n int) []float64 { return v[i*n : (i+1)*n] }
	matrix := func(v []float64, rows, cols int) blas64.General {
		return blas64.General{Rows: rows, Cols: cols, Stride: max(cols, 1), Data: vector(v, rows*cols)}
	}
	s := oem.Snapshot{
		Steps: t.steps[i], Now: oem.Params{Mean: vector(t.mean, d), W: matrix(t.w, d, q), Sigma2: t.sigma2[i]},
		Statistics: oem.Statistics{S0: t.s0[i], S1: matrix(t.s1, d, q), S2: matrix(t.s2, q, q), S3: vector(t.s3, d)},
	}
	if withReference && t.rsigma2[i] != 0 {
		s.Reference = &oem.Params{Mean: vector(t.rmean, d), W: matrix(t.rw, d, q), Sigma2: t.rsigma2[i]}
	}
	return s
}
