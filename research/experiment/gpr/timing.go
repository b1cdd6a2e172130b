package gpr

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/stat"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/gpr"
	engine "github.com/seed-90d10d51/pipeline/gp/gpr"
	"github.com/seed-90d10d51/pipeline/internal/chart"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/grid"
	"github.com/seed-90d10d51/pipeline/research/table"
)

// inARow is the number of examples added consecutively, so that the time
// includes the work deferred by Woodbury updates (rank 32).
const inARow = 33

// A task holds the examples to add, in the form the regression takes.
type task struct {
	env  experiment.Env
	x, t blas64.General
}

// timings returns the tasks of Fig. 2, one per n.
func (r runner) timings() []experiment.Task {
	var tasks []experiment.Task
	for _, n := range r.N {
		tasks = append(tasks, experiment.Task{
			Name:    fmt.Sprintf("timing_n%d", n),
			Of:      []any{r.fingerprint, method.Get[gpr.Config](r.env.Heads, "gpr"), n, r.K, r.Repeats},
			Measure: func(ctx context.Context) (grid.Grid, error) { return r.time(ctx, n) },
		})
	}
	return tasks
}

// time measures one n with every k: the seconds of a batch fit of n+k and of every update,
// and how many times the batch fit takes longer than the fastest update.
func (r runner) time(ctx context.Context, n int) (grid.Grid, error) {
	w, err := r.newTask(n + max(slices.Max(r.K), inARow))
	if err != nil {
		return nil, err
	}
	var cells grid.Grid
	for _, k := range r.K {
		batch, err := r.median(ctx, func() (time.Duration, error) {
			start := time.Now()
			_, err := w.fit(ctx, engine.Cholesky, n+k)
			return time.Since(start), err
		})
		if err != nil {
			return nil, err
		}
		cells.Add(grid.At("n", n, "k", k, "update", "batch"), grid.Values{"seconds": batch})
	}
	fastest := map[int]float64{}
	for _, m := range []engine.Method{engine.Iterative, engine.Direct, engine.Cholesky} {
		base, err := w.fit(ctx, m, n)
		if err != nil {
			return nil, err
		}
		for _, k := range r.K {
			s, err := r.median(ctx, func() (time.Duration, error) { return w.add(ctx, base.Clone(), k) })
			if err != nil {
				return nil, err
			}
			cells.Add(grid.At("n", n, "k", k, "update", m), grid.Values{"seconds": s})
			if least, ok := fastest[k]; !ok || s < least {
				fastest[k] = s
			}
		}
	}
	for _, k := range r.K {
		batch := cells.Values(grid.At("n", n, "k", k, "update", "batch"), "seconds")[0]
		cells.Add(grid.At("n", n, "k", k), grid.Values{"gain": batch / fastest[k]})
	}
	return cells, nil
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
	if err == nil {
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

// addTimings adds Fig. 2.
func (c Config) addTimings(o *experiment.Outcome, cells grid.Grid) {
	o.Tables = append(o.Tables, cells.Table(table.Table{
		Name: "time", Title: "Time to add k examples to n (Fig. 2)",
		Note: "Milliseconds on this machine; they vary from run to run. batch is a fit of n+k: kernel matrix, " +
			"Cholesky factor, weights. gain is batch over the fastest update.",
	}, []string{"n", "k"}, append(cells.Across("update", "%s", "seconds", grid.Mean("%.3g", 1e3)),
		grid.Column{Title: "gain", Of: "gain", Show: grid.Mean("%.3g", 1)})...))
	largest := slices.Max(c.N)
	for _, f := range []struct {
		name, title, x, axis string
		of                   grid.Place
	}{
		{"fig2_k", fmt.Sprintf("GP regression, time to add k examples to n = %d", largest), "examples added k", "k",
			grid.At("n", largest)},
		{"fig2_n", fmt.Sprintf("GP regression, time to add k = %d to n examples", c.K[0]), "examples n", "n",
			grid.At("k", c.K[0])},
	} {
		axes := chart.Axes{Title: f.title, X: f.x, Y: "seconds", LogX: true, LogY: true}
		o.Figures = append(o.Figures, cells.Where(f.of).Figure(f.name, axes,
			grid.Lines{X: f.axis, Y: "seconds", Scale: 1, By: []string{"update"}}))
	}
}
