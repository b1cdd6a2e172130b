// Package hierarchy measures hierarchical PPCA against the flat head, in the
// shape of Wang 2023, Tables 5.1 to 5.7: accuracy, super-class accuracy,
// density, speed-up in neurons (eq. 5.1), and wall-clock speed-up.
//
// The data come from a feature folder, whose column split or first folder says train or
// test, or are random Gaussian classes (Synthetic). Both heads get the same examples.
// The wall-clock speed-up is the median, over alternating rounds, of the flat
// head's scoring time divided by the hierarchical head's, on the same rows. It
// and the fit times depend on the machine; everything else in the results is
// the same in every run.
//
// Super-class accuracy is the share of test examples whose class belongs to one
// of the visited super-classes.
package hierarchy

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/stat"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/hppca"
	"github.com/seed-90d10d51/pipeline/classifier/ppca"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/grid"
)

const (
	// clockRows is the number of rows scored per round to measure the
	// wall-clock speed-up; rounds continue until clockTime is used up, within
	// these limits.
	clockRows              = 1024
	leastRounds, maxRounds = 3, 41
	clockTime              = 2 * time.Second
)

type cell struct {
	variant            string
	q, r, s, t, levels int // s: 0 is automatic
}

func (c cell) place() grid.Place {
	return grid.At("method", c.variant, "q", c.q, "r", c.r, "S", c.s, "T", c.t, "levels", c.levels)
}

// flatAt is the place of the flat head with q components.
func flatAt(q int) grid.Place { return grid.At("method", "flat", "q", q) }

// runner measures cells. It fits heads only when needed: cells measured by an
// earlier run need none.
type runner struct {
	Config
	env  experiment.Env
	data data
	// flat is the flat head and classes a head with class models, both with q
	// components.
	q         int
	flat      *ppca.PPCA
	flatFit   time.Duration
	classes   *hppca.HPPCA
	clockTest blas32.General
	// made is the last hierarchy, shared by cells that differ only in T; madeOf
	// is its settings, madeIn the time it took.
	made   *hppca.HPPCA
	madeOf hppca.Config
	madeIn time.Duration
}

// base returns the cell described by classifier.hppca.
func (r *runner) base() cell {
	h := method.Get[hppca.Config](r.env.Heads, "hppca")
	return cell{variant: Gaussians, q: h.Q, r: h.R, s: h.S, t: h.T, levels: h.Levels}
}

func (r *runner) config(c cell, run int) hppca.Config {
	h := method.Get[hppca.Config](r.env.Heads, "hppca")
	h.Q, h.R, h.S, h.T, h.Levels, h.Statistics, h.Refresh = c.q, c.r, c.s, c.t, c.levels, false, false
	h.Seed += r.env.Seed + uint64(run)
	switch c.variant {
	case MeanSeeds:
		h.SeedDistance = hppca.SeedMean
	case Raw:
		h.Cluster = hppca.ClusterRaw
	}
	return h
}

// prepare fits the flat head and the class models with q components.
func (r *runner) prepare(ctx context.Context, q int) error {
	if r.q == q {
		return nil
	}
	r.flat, r.classes, r.made, r.q = nil, nil, nil, -1 // free the old ones first
	h := method.Get[hppca.Config](r.env.Heads, "hppca")
	flat, err := ppca.New(ppca.Config{
		Preset: h.Preset, Q: q, Lambda: h.Lambda, Normalize: h.Normalize, LogDet: h.LogDet,
	})
	if err != nil {
		return err
	}
	start := time.Now()
	if err := r.learn(ctx, flat); err != nil {
		return err
	}
	r.flatFit = time.Since(start)
	one := r.config(cell{variant: Gaussians, q: q, s: 1, t: 1, levels: 2}, 0) // the cheapest hierarchy
	classes, err := hppca.New(one)
	if err != nil {
		return err
	}
	if err := r.learn(ctx, classes); err != nil {
		return err
	}
	r.flat, r.classes, r.q = flat, classes, q
	return nil
}

// Run measures all tables.
func (c Config) Run(ctx context.Context, env experiment.Env) (experiment.Outcome, error) {
	d, err := c.data(env)
	if err != nil {
		return experiment.Outcome{}, err
	}
	r := &runner{env: env, Config: c, data: d, q: -1, clockTest: evenly(d.test, clockRows).X}
	cells, err := env.Measure(ctx, r.tasks()...)
	if err != nil {
		return experiment.Outcome{}, err
	}
	return report{Config: c, base: r.base(), cells: cells}.outcome(d), nil
}

// tasks returns those of all tables, some of which have cells in common. Those of the
// table by q come last: each q needs class models of its own.
func (r *runner) tasks() []experiment.Task {
	base := r.base()
	tasks := []experiment.Task{r.flatTask(base.q)}
	for _, v := range r.views(base) {
		for _, c := range v.cells {
			tasks = append(tasks, r.runsOf(c)...)
		}
	}
	for _, q := range r.Q {
		tasks = append(tasks, r.flatTask(q))
		for _, c := range r.byQ(base, q) {
			tasks = append(tasks, r.runsOf(c)...)
		}
	}
	return tasks
}

func (r *runner) flatTask(q int) experiment.Task {
	h := method.Get[hppca.Config](r.env.Heads, "hppca")
	return experiment.Task{
		Name: fmt.Sprintf("flat_q%d", q),
		Of:   []any{r.data.fingerprint, "flat", q, h.Lambda, h.Preset, h.Normalize, h.LogDet},
		Measure: func(ctx context.Context) (grid.Grid, error) {
			if err := r.prepare(ctx, q); err != nil {
				return nil, err
			}
			accuracy, err := experiment.Accuracy(r.flat, r.data.test)
			return grid.One(flatAt(q), grid.Values{
				"accuracy": accuracy, "density": 1, "speed_up": 1, "clock_speed_up": 1,
				"fit_seconds_flat": r.flatFit.Seconds(),
			}), err
		},
	}
}

// runsOf returns the tasks that build the hierarchy of a cell and test it.
func (r *runner) runsOf(c cell) []experiment.Task {
	tasks := make([]experiment.Task, r.Runs)
	for run := range tasks {
		cfg := r.config(c, run)
		tasks[run] = experiment.Task{
			Name: fmt.Sprintf("%s_q%d_r%d_s%d_t%d_levels%d_run%d", c.variant, c.q, c.r, c.s, c.t, c.levels, run+1),
			Of:   []any{r.data.fingerprint, cfg},
			Measure: func(ctx context.Context) (grid.Grid, error) {
				values, err := r.once(ctx, c, cfg)
				return grid.One(c.place(), values), err
			},
		}
	}
	return tasks
}

// once returns the accuracies and the density as fractions. The speed-up by the clock and
// the seconds depend on the machine; the seconds are those of building the hierarchy alone,
// except for raw data, where they cover the whole fit.
func (r *runner) once(ctx context.Context, c cell, cfg hppca.Config) (grid.Values, error) {
	if err := r.prepare(ctx, c.q); err != nil {
		return nil, err
	}
	head, err := r.head(ctx, cfg)
	if err != nil {
		return nil, err
	}
	visits, err := head.Visits(r.data.test.X)
	if err != nil {
		return nil, err
	}
	supers := make(map[string]int)
	for _, class := range head.Classes() {
		if supers[class], err = head.SuperClass(class); err != nil {
			return nil, err
		}
	}
	var density, within, accuracy float64
	n := float64(len(visits))
	for i, v := range visits {
		class := r.data.test.Y[i]
		density += float64(v.Neurons) / float64(r.data.classes) / n
		if slices.Contains(v.Supers, supers[class]) {
			within += 1 / n
		}
		if head.Classes()[v.Column] == class {
			accuracy += 1 / n
		}
	}
	clock, err := r.clock(ctx, head)
	return grid.Values{
		"super_classes": float64(head.Supers()), "density": density, "speed_up": 1 / density, "clock_speed_up": clock,
		"accuracy": accuracy, "super_accuracy": within, "fit_seconds": r.madeIn.Seconds(),
	}, err
}

func (r *runner) head(ctx context.Context, cfg hppca.Config) (*hppca.HPPCA, error) {
	of := cfg
	of.T = 1
	if r.made == nil || of != r.madeOf {
		r.made = nil
		start := time.Now()
		made, err := r.group(ctx, of)
		if err != nil {
			return nil, err
		}
		r.made, r.madeOf, r.madeIn = made, of, time.Since(start)
	}
	return r.made.Regroup(ctx, cfg) // only T differs
}

// group builds the hierarchy on the existing class models; raw data need the
// examples again.
func (r *runner) group(ctx context.Context, cfg hppca.Config) (*hppca.HPPCA, error) {
	if cfg.Cluster != hppca.ClusterRaw {
		return r.classes.Regroup(ctx, cfg)
	}
	head, err := hppca.New(cfg)
	if err != nil {
		return nil, err
	}
	return head, r.learn(ctx, head)
}

func (r *runner) learn(ctx context.Context, head classifier.Learner) error {
	classifier.UseBackend(head, r.env.Backend)
	return head.Learn(ctx, r.data.train.X, r.data.train.Y)
}

// clock returns how many times longer the flat head takes: the median over
// rounds in which the two heads alternate.
func (r *runner) clock(ctx context.Context, head classifier.Head) (float64, error) {
	dst := dense.New(r.clockTest.Rows, r.data.classes)
	var ratios []float64
	var used time.Duration
	for len(ratios) < leastRounds || len(ratios) < maxRounds && used < clockTime {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		var took [2]time.Duration
		for k, h := range []classifier.Head{r.flat, head} {
			start := time.Now()
			if err := h.Score(dst, nil, r.clockTest); err != nil {
				return 0, err
			}
			took[k] = time.Since(start)
		}
		used += took[0] + took[1]
		ratios = append(ratios, took[0].Seconds()/max(took[1].Seconds(), 1e-9))
	}
	slices.Sort(ratios)
	return stat.Quantile(0.5, stat.Empirical, ratios, nil), nil
}
