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
)

const (
	// clockRows is the number of rows scored per round to measure the
	// wall-clock speed-up; rounds continue until clockTime is used up, within
	// these limits.
	clockRows              = 1024
	leastRounds, maxRounds = 3, 41
	clockTime              = 2 * time.Second
)

// A Cell is one setting of the hierarchy.
type Cell struct {
	Variant string `json:"variant"`
	Q       int    `json:"q"`
	R       int    `json:"r"`
	S       int    `json:"s"` // 0: automatic
	T       int    `json:"t"`
	Levels  int    `json:"levels"`
}

// A Measure is the result of one cell, averaged over runs. Accuracies and
// density are fractions.
type Measure struct {
	Cell
	// Supers is the number of super-classes.
	Supers        float64 `json:"supers"`
	Accuracy      float64 `json:"accuracy"`
	SuperAccuracy float64 `json:"super_accuracy"`
	Density       float64 `json:"density"`
	SpeedUp       float64 `json:"speed_up"`
	// ClockSpeedUp and FitSeconds depend on the machine. FitSeconds is the time
	// of building the hierarchy alone, except for raw data, where it covers the
	// whole fit.
	ClockSpeedUp float64 `json:"clock_speed_up"`
	FitSeconds   float64 `json:"fit_seconds"`
}

// A Flat is the result of the flat head.
type Flat struct {
	Q          int     `json:"q"`
	Accuracy   float64 `json:"accuracy"`
	FitSeconds float64 `json:"fit_seconds"`
}

// runner measures cells. It fits heads only when needed: cells measured by an
// earlier run need none.
type runner struct {
	env  experiment.Env
	cfg  Config
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
func (r *runner) base() Cell {
	h := method.Get[hppca.Config](r.env.Heads, "hppca")
	return Cell{Variant: Gaussians, Q: h.Q, R: h.R, S: h.S, T: h.T, Levels: h.Levels}
}

func (r *runner) config(c Cell, run int) hppca.Config {
	h := method.Get[hppca.Config](r.env.Heads, "hppca")
	h.Q, h.R, h.S, h.T, h.Levels, h.Statistics, h.Refresh = c.Q, c.R, c.S, c.T, c.Levels, false, false
	h.Seed += r.env.Seed + uint64(run)
	switch c.Variant {
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
	flat,
		err := ppca.New(ppca.Config{Preset: h.Preset, Q: q, Lambda: h.Lambda, Normalize: h.Normalize, LogDet: h.LogDet})
	if err != nil {
		return err
	}
	start := time.Now()
	if err := r.learn(ctx, flat); err != nil {
		return err
	}
	r.flatFit = time.Since(start)
	one := r.config(Cell{Variant: Gaussians, Q: q, S: 1, T: 1, Levels: 2}, 0) // the cheapest hierarchy
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

// measureFlat tests the flat head with q components.
func (r *runner) measureFlat(ctx context.Context, q int) (Flat, error) {
	h := method.Get[hppca.Config](r.env.Heads, "hppca")
	of := []any{r.data.fingerprint, "flat", q, h.Lambda, h.Preset, h.Normalize, h.LogDet}
	return experiment.Part(ctx, r.env, fmt.Sprintf("flat_q%d", q), of, func() (Flat, error) {
		if err := r.prepare(ctx, q); err != nil {
			return Flat{}, err
		}
		accuracy, err := experiment.Accuracy(r.flat, r.data.test)
		return Flat{q, accuracy, r.flatFit.Seconds()}, err
	})
}

// measure returns the mean result of a cell over all runs.
func (r *runner) measure(ctx context.Context, c Cell) (Measure, error) {
	mean := Measure{Cell: c}
	for run := range r.cfg.Runs {
		cfg := r.config(c, run)
		name := fmt.Sprintf("%s_q%d_r%d_s%d_t%d_levels%d_run%d", c.Variant, c.Q, c.R, c.S, c.T, c.Levels, run+1)
		m, err := experiment.Part(ctx, r.env, name, []any{r.data.fingerprint, cfg},
			func() (Measure, error) { return r.once(ctx, c, cfg) })
		if err != nil {
			return mean, err
		}
		n := float64(r.cfg.Runs)
		mean.Supers += m.Supers / n
		mean.Accuracy += m.Accuracy / n
		mean.SuperAccuracy += m.SuperAccuracy / n
		mean.Density += m.Density / n
		mean.SpeedUp += m.SpeedUp / n
		mean.ClockSpeedUp += m.ClockSpeedUp / n
		mean.FitSeconds += m.FitSeconds / n
	}
	return mean, nil
}

func (r *runner) once(ctx context.Context, c Cell, cfg hppca.Config) (Measure, error) {
	if err := r.prepare(ctx, c.Q); err != nil {
		return Measure{}, err
	}
	head, err := r.head(ctx, cfg)
	if err != nil {
		return Measure{}, err
	}
	m := Measure{Cell: c, FitSeconds: r.madeIn.Seconds(), Supers: float64(head.Supers())}
	visits, err := head.Visits(r.data.test.X)
	if err != nil {
		return m, err
	}
	supers := make(map[string]int)
	for _, class := range head.Classes() {
		if supers[class], err = head.SuperClass(class); err != nil {
			return m, err
		}
	}
	n := float64(len(visits))
	for i, v := range visits {
		class := r.data.test.Y[i]
		m.Density += float64(v.Neurons) / float64(r.data.classes) / n
		if slices.Contains(v.Supers, supers[class]) {
			m.SuperAccuracy += 1 / n
		}
		if head.Classes()[v.Column] == class {
			m.Accuracy += 1 / n
		}
	}
	m.SpeedUp = 1 / m.Density
	m.ClockSpeedUp, err = r.clock(ctx, head)
	return m, err
}

// head returns the hierarchy with these settings.
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

// learn fits a head on the training data, on the backend of the experiment.
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
