package gpr

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/gpr"
	"github.com/seed-90d10d51/pipeline/eval/experiment"
	engine "github.com/seed-90d10d51/pipeline/gp/gpr"
	"github.com/seed-90d10d51/pipeline/method"
)

// A Timing is what adding k examples to n took, in seconds.
type Timing struct {
	N         int     `json:"n"`
	K         int     `json:"k"`
	Batch     float64 `json:"batch_seconds"`
	Iterative float64 `json:"iterative_seconds"`
	Direct    float64 `json:"direct_seconds"`
	Cholesky  float64 `json:"cholesky_seconds"`
}

// speedUp is that of the fastest way to update.
func (t Timing) speedUp() float64 { return t.Batch / min(t.Iterative, t.Direct, t.Cholesky) }

// inARow is the number of examples that are added one after the other, so
// that what Woodbury updates put off (rank 32) is in the time.
const inARow = 33

// task is the examples that are added, as the regression takes them.
type task struct {
	site experiment.Site
	x, t blas64.General
}

// timings measures one n at every k.
func (c Config) timings(ctx context.Context, s experiment.Site, p pool, n int) ([]Timing, error) {
	w, err := newTask(s, p, n+max(slices.Max(c.K), inARow))
	if err != nil {
		return nil, err
	}
	out := make([]Timing, len(c.K))
	for i, k := range c.K {
		out[i] = Timing{N: n, K: k}
		if out[i].Batch, err = c.median(ctx, func() (time.Duration, error) { return w.batch(n + k) }); err != nil {
			return nil, err
		}
	}
	for _, m := range []struct {
		method engine.Method
		result func(*Timing) *float64
	}{
		{engine.Iterative, func(t *Timing) *float64 { return &t.Iterative }},
		{engine.Direct, func(t *Timing) *float64 { return &t.Direct }},
		{engine.Cholesky, func(t *Timing) *float64 { return &t.Cholesky }},
	} {
		base, err := w.fit(m.method, n)
		if err != nil {
			return nil, err
		}
		for i, k := range c.K {
			if *m.result(&out[i]), err = c.median(ctx, func() (time.Duration, error) { return w.add(base.Clone(), k) }); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// newTask draws examples of all classes, with labels of ±1 for each.
func newTask(s experiment.Site, p pool, count int) (task, error) {
	settings := method.Get[gpr.Config](s.Heads, "gpr")
	if settings.Lengthscale == gpr.Auto || settings.Noise == gpr.Auto {
		return task{}, &experiment.InputError{Err: fmt.Errorf("classifier.gpr.lengthscale and noise are to be chosen; give them, so that all sizes are timed at the same")}
	}
	if p.train.X.Rows < count {
		return task{}, &experiment.InputError{Err: fmt.Errorf("%d training images, %d are needed: lower experiment.gpregression.n or k", p.train.X.Rows, count)}
	}
	rows := stream(s.Seed, 2, 0).Perm(p.train.X.Rows)[:count]
	groups := classifier.GroupByClass(p.train.Y)
	w := task{site: s, x: classifier.Placed(p.train.X, rows, settings.Normalize)}
	w.t = blas64.General{Rows: count, Cols: len(groups), Stride: len(groups), Data: make([]float64, count*len(groups))}
	column := map[string]int{}
	for i, g := range groups {
		column[g.Class] = i
	}
	for i, r := range rows {
		for j := range groups {
			w.t.Data[i*w.t.Stride+j] = -1
		}
		w.t.Data[i*w.t.Stride+column[p.train.Y[r]]] = 1
	}
	return w, nil
}

func (w task) fit(m engine.Method, n int) (*engine.Regression, error) {
	settings := method.Get[gpr.Config](w.site.Heads, "gpr")
	var kernel engine.Kernel = engine.RBF{Lengthscale: settings.Lengthscale, Outputscale: 1}
	if settings.Kernel == gpr.Linear {
		kernel = engine.Linear{Outputscale: 0.5, Bias: 0.5}
	}
	r, err := engine.New(kernel, engine.Config{Method: m, Noise: settings.Noise})
	if err != nil {
		return nil, err
	}
	if w.site.Backend != nil {
		r.UseBackend(w.site.Backend)
	}
	return r, r.Add(span(w.x, 0, n), span(w.t, 0, n))
}

// batch times a fit of n examples: kernel matrix, factor, weights.
func (w task) batch(n int) (time.Duration, error) {
	start := time.Now()
	_, err := w.fit(engine.Cholesky, n)
	return time.Since(start), err
}

// add times k more examples, by the mean of several additions in a row where
// k is small.
func (w task) add(r *engine.Regression, k int) (time.Duration, error) {
	times := (inARow + k - 1) / k
	if n := r.Len(); n+times*k > w.x.Rows {
		times = (w.x.Rows - n) / k
	}
	start := time.Now()
	for range times {
		if err := r.Add(span(w.x, r.Len(), k), span(w.t, r.Len(), k)); err != nil {
			return 0, err
		}
	}
	return time.Since(start) / time.Duration(times), nil
}

// span returns rows of m.
func span(m blas64.General, first, rows int) blas64.General {
	return blas64.General{Rows: rows, Cols: m.Cols, Stride: m.Stride, Data: m.Data[first*m.Stride : (first+rows)*m.Stride]}
}

// median returns that of several measurements, in seconds.
func (c Config) median(ctx context.Context, measure func() (time.Duration, error)) (float64, error) {
	seconds := make([]float64, c.Repeats)
	for i := range seconds {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		d, err := measure()
		if err != nil {
			return 0, err
		}
		seconds[i] = d.Seconds()
	}
	slices.Sort(seconds)
	return seconds[(len(seconds)-1)/2], nil
}
