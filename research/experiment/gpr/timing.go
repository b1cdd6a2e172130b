package gpr

import (
	"context"
	"slices"
	"time"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/stat"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/gpr"
	engine "github.com/seed-90d10d51/pipeline/gp/gpr"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/research/experiment"
)

// A Timing holds the times of adding k examples to n, in seconds.
type Timing struct {
	N         int     `json:"n"`
	K         int     `json:"k"`
	Batch     float64 `json:"batch_seconds"`
	Iterative float64 `json:"iterative_seconds"`
	Direct    float64 `json:"direct_seconds"`
	Cholesky  float64 `json:"cholesky_seconds"`
}

// speedUp returns the speed-up of the fastest update over the batch fit.
func (t Timing) speedUp() float64 { return t.Batch / min(t.Iterative, t.Direct, t.Cholesky) }

// inARow is the number of examples added consecutively, so that the time
// includes the work deferred by Woodbury updates (rank 32).
const inARow = 33

// A task holds the examples to add, in the form the regression takes.
type task struct {
	env  experiment.Env
	x, t blas64.General
}

// timings measures one n with every k.
func (r runner) timings(ctx context.Context, n int) ([]Timing, error) {
	w, err := r.newTask(n + max(slices.Max(r.K), inARow))
	if err != nil {
		return nil, err
	}
	out := make([]Timing, len(r.K))
	for i, k := range r.K {
		out[i] = Timing{N: n, K: k}
		out[i].Batch, err = r.median(ctx, func() (time.Duration, error) {
			start := time.Now()
			_, err := w.fit(ctx, engine.Cholesky, n+k)
			return time.Since(start), err
		})
		if err != nil {
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
		base, err := w.fit(ctx, m.method, n)
		if err != nil {
			return nil, err
		}
		for i, k := range r.K {
			if *m.result(&out[i]),
				err = r.median(ctx, func() (time.Duration, error) { return w.add(ctx, base.Clone(), k) }); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// newTask draws examples of all classes, with labels of ±1 for each.
func (r runner) newTask(count int) (task, error) {
	settings := method.Get[gpr.Config](r.env.Heads, "gpr")
	if r.train.X.Rows < count {
		return task{}, experiment.Inputf("%d training images, %d are needed: lower experiment.gpr.n or k",
			r.train.X.Rows, count)
	}
	rows := random.Stream(r.env.Seed, "experiment/gpr/timing").Perm(r.train.X.Rows)[:count]
	groups := classifier.GroupByClass(r.train.Y)
	w := task{env: r.env, x: classifier.Placed(r.train.X, rows, settings.Normalize), t: dense.New(count, len(groups))}
	for i, row := range rows {
		for j, g := range groups {
			w.t.Data[i*w.t.Stride+j] = -1
			if r.train.Y[row] == g.Class {
				w.t.Data[i*w.t.Stride+j] = 1
			}
		}
	}
	return w, nil
}

// fit fits the first n examples: kernel matrix, factor, weights.
func (w task) fit(ctx context.Context, m engine.Method, n int) (*engine.Regression, error) {
	r, err := unfitted(w.env, m)
	if err != nil {
		return nil, err
	}
	return r, r.Add(ctx, dense.Rows(w.x, 0, n), dense.Rows(w.t, 0, n))
}

// unfitted returns a regression with the kernel and noise of classifier.gpr.
func unfitted(env experiment.Env, m engine.Method) (*engine.Regression, error) {
	settings := method.Get[gpr.Config](env.Heads, "gpr")
	if settings.Lengthscale == gpr.Auto || settings.Noise == gpr.Auto {
		return nil, experiment.Inputf("set classifier.gpr.lengthscale and noise, so that everything is measured " +
			"with the same values")
	}
	var kernel engine.Kernel = engine.RBF{Lengthscale: settings.Lengthscale, Outputscale: 1}
	if settings.Kernel == gpr.Linear {
		kernel = engine.Linear{Outputscale: 0.5, Bias: 0.5}
	}
	r, err := engine.New(kernel, engine.Config{Method: m, Noise: settings.Noise})
	if err == nil && env.Backend != nil {
		r.UseBackend(env.Backend)
	}
	return r, err
}

// add times adding k more examples. If k is small, it returns the mean of
// several consecutive additions.
func (w task) add(ctx context.Context, r *engine.Regression, k int) (time.Duration, error) {
	times := (inARow + k - 1) / k
	if n := r.Len(); n+times*k > w.x.Rows {
		times = (w.x.Rows - n) / k
	}
	start := time.Now()
	for range times {
		n := r.Len()
		if err := r.Add(ctx, dense.Rows(w.x, n, n+k), dense.Rows(w.t, n, n+k)); err != nil {
			return 0, err
		}
	}
	return time.Since(start) / time.Duration(times), nil
}

// median returns the median of several measurements, in seconds.
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
	return stat.Quantile(0.5, stat.Empirical, seconds, nil), nil
}
