package model

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// fake is a nearest-mean head whose means are in the model file and whose sums
// are in the side file, so that every path through the package is exercised.
// On small integers it is exact.
type fake struct {
	dim     int
	classes []string
	mean    map[string][]float64
	sums    map[string]*sum // nil entries: statistics are missing
}

type sum struct {
	n int64
	x []float64
}

func newFake() (classifier.Learner, error) {
	return &fake{mean: map[string][]float64{}, sums: map[string]*sum{}}, nil
}

func (f *fake) Classes() []string { return f.classes }
func (f *fake) Dim() int          { return f.dim }

func (f *fake) distances(v []float32) []float64 {
	out := make([]float64, len(f.classes))
	for c, name := range f.classes {
		for j, m := range f.mean[name] {
			out[c] += (float64(v[j]) - m) * (float64(v[j]) - m)
		}
	}
	return out
}

func (f *fake) Score(dst blas64.General, novelty []float64, x blas32.General) error {
	for i := range x.Rows {
		d := f.distances(dense.Row32(x, i))
		if novelty != nil {
			novelty[i] = floats.Min(d)
		}
		floats.Scale(-1, d)
		floats.AddConst(-floats.LogSumExp(d), d)
		copy(dst.Data[i*dst.Stride:], d)
	}
	return nil
}

func (f *fake) Learn(_ context.Context, x blas32.General, y []string) error {
	if err := f.needSums(y); err != nil {
		return err
	}
	f.dim = x.Cols
	for i, c := range y {
		if !slices.Contains(f.classes, c) {
			f.classes = append(f.classes, c)
			f.sums[c] = &sum{x: make([]float64, f.dim)}
		}
		f.shift(c, dense.Row32(x, i), 1)
	}
	return nil
}

func (f *fake) needSums(y []string) error {
	for _, c := range y {
		if slices.Contains(f.classes, c) && f.sums[c] == nil {
			return fmt.Errorf("class %q has no statistics: %w", c, classifier.ErrUnsupported)
		}
	}
	return nil
}

func (f *fake) shift(c string, v []float32, sign int64) {
	s := f.sums[c]
	s.n += sign
	f.mean[c] = make([]float64, f.dim)
	for j := range v {
		s.x[j] += float64(sign) * float64(v[j])
		f.mean[c][j] = s.x[j] / float64(s.n)
	}
}

func (f *fake) Forget(class string) error {
	i := slices.Index(f.classes, class)
	if i < 0 {
		return fmt.Errorf("%q: %w", class, classifier.ErrUnknownClass)
	}
	f.classes = slices.Delete(slices.Clone(f.classes), i, i+1)
	delete(f.mean, class)
	delete(f.sums, class)
	return nil
}

func (f *fake) ForgetSamples(x blas32.General, y []string) error {
	if err := f.needSums(y); err != nil {
		return err
	}
	for i, c := range y {
		if f.sums[c].n == 1 {
			_ = f.Forget(c)
			continue
		}
		f.shift(c, dense.Row32(x, i), -1)
	}
	return nil
}

func (f *fake) Save() (classifier.State, error) {
	settings, err := json.Marshal(f.classes)
	mean := []float64{}
	for _, c := range f.classes {
		mean = append(mean, f.mean[c]...)
	}
	return classifier.State{Settings: settings, Tensors: map[string]classifier.Tensor{
		"mean": {Shape: []int{len(f.classes), f.dim}, F64: mean},
	}}, err
}

// fakes makes the heads of a faked model.
func fakes() heads {
	return heads{loadFake, func(string, json.RawMessage) (classifier.Learner, error) { return newFake() }}
}

func loadFake(_ string, s classifier.State) (classifier.Learner, error) {
	f := &fake{mean: map[string][]float64{}, sums: map[string]*sum{}}
	if err := json.Unmarshal(s.Settings, &f.classes); err != nil {
		return nil, err
	}
	m := s.Tensors["mean"]
	if m.F64 == nil || len(m.Shape) != 2 || m.Shape[0] != len(f.classes) {
		return nil, fmt.Errorf("means of shape %v for %d classes", m.Shape, len(f.classes))
	}
	f.dim = m.Shape[1]
	for i, c := range f.classes {
		f.mean[c] = m.F64[i*f.dim : (i+1)*f.dim]
	}
	return f, nil
}

func (f *fake) Statistics() (classifier.State, error) {
	var names []string
	n, x := []int64{}, []float64{}
	for _, c := range f.classes {
		if s := f.sums[c]; s != nil {
			names, n, x = append(names, c), append(n, s.n), append(x, s.x...)
		}
	}
	settings, err := json.Marshal(names)
	if len(names) == 0 {
		return classifier.State{}, err
	}
	return classifier.State{Settings: settings, Tensors: map[string]classifier.Tensor{
		"n": {Shape: []int{len(n)}, I64: n}, "sum": {Shape: []int{len(n), f.dim}, F64: x},
	}}, err
}

func (f *fake) RestoreStatistics(s classifier.State) error {
	var names []string
	if err := json.Unmarshal(s.Settings, &names); err != nil {
		return err
	}
	n, x := s.Tensors["n"].I64, s.Tensors["sum"].F64
	if len(n) != len(names) || len(x) != len(names)*f.dim {
		return fmt.Errorf("%d counts and %d sums for %d classes", len(n), len(x), len(names))
	}
	for i, c := range names {
		f.sums[c] = &sum{n[i], x[i*f.dim : (i+1)*f.dim]}
	}
	return nil
}

// faked returns an unfitted model whose heads come from create.
func faked(create func() (classifier.Learner, error)) *Model {
	head, err := create()
	if err != nil {
		panic(err)
	}
	return &Model{
		Method: "fake",
		Predictor: &Predictor{Head: head,
			recipe: recipe{temperature: temperature.Config{Temperature: 1}, fresh: create}},
		HeadConfig: json.RawMessage(`{"tau":1}`), Seed: 7, ToolVersion: "test",
		Provenance: embedding.Provenance{
			Backbone:             embedding.Backbone{Name: "resnet <tiny>", SHA256: "abc", Path: "r.onnx"},
			ExtractorFingerprint: "ef",
			Extractor:            json.RawMessage(`{"pool":"mean"}`),
			Preprocess:           spec(), PreprocessFingerprint: "feed", Dim: 3,
		},
		KeepStatistics: true, makes: fakes(),
	}
}

// train learns the base session of a faked model.
func train(ctx context.Context, create func() (classifier.Learner, error), b Batch) (*Model, Outcome, error) {
	m := faked(create)
	o, err := m.Learn(ctx, b)
	return m, o, err
}

// plain hides everything but the Learner and the Saver.
type plain struct {
	classifier.Learner
	classifier.Saver
}

func newPlain() (classifier.Learner, error) {
	f, err := newFake()
	return plain{f, f.(*fake)}, err
}

// batch returns n samples of each class: class c is at 10·c on every axis,
// sample i at an integer offset that depends on both and on the session.
func batch(session, n, dim int, classes ...string) Batch {
	var b Batch
	b.X = blas32.General{Cols: dim, Stride: dim}
	for _, name := range classes {
		centre := 0
		for _, r := range name {
			centre = centre*3 + int(r)%7
		}
		for i := range n {
			for j := range dim {
				b.X.Data = append(b.X.Data, float32(10*(centre%50)+(i*7+j*3+session*5)%4+1000*(j%2)*session))
			}
			b.X.Rows++
			b.Labels = append(b.Labels, name)
			b.Paths = append(b.Paths, fmt.Sprintf("%s/%d-%d.jpg", name, session, i))
			var h Hash
			copy(h[:], fmt.Sprintf("%d/%d/%s", session, i, name))
			b.Content = append(b.Content, h)
		}
	}
	return b
}

// brokenNovelty gives everything the novelty NaN.
type brokenNovelty struct{ *fake }

func (b brokenNovelty) Score(dst blas64.General, novelty []float64, x blas32.General) error {
	err := b.fake.Score(dst, novelty, x)
	for i := range novelty {
		novelty[i] = math.NaN()
	}
	return err
}
