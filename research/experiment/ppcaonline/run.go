package ppcaonline

import (
	"context"
	"fmt"

	"github.com/seed-90d10d51/pipeline/classifier/ppcaonline/engine"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/research/experiment"
)

type trial struct {
	Setting variant `json:"setting"`
	// Validation is the criterion for choosing β, in nats per example: the mean
	// over the curve of all classes, in Figure 4 over all pairs.
	Validation float64 `json:"validation"`
	// Test has one row per class and one column per point of the curve; in
	// Figure 4, one row per first and one column per second class, with their
	// interference.
	Test [][]float64 `json:"test"`
	// Pulled counts elements moved by an R-step, Clamped those of them whose
	// share would have left [0, 1].
	Pulled  int `json:"pulled"`
	Clamped int `json:"clamped"`
}

// Run measures a figure. Each seed is a part.
func (c Config) Run(ctx context.Context, s experiment.Env) (experiment.Outcome, error) {
	var seeds [][]trial
	for run := range c.Seeds {
		same := c
		same.Seeds = 0 // more seeds do not change the earlier ones
		if c.Figure == 3 {
			same.Figure = 2 // two looks at the same runs
		}
		trials, err := experiment.Part(ctx, s, fmt.Sprintf("seed%d", run+1), same, func() ([]trial, error) {
			return c.trials(ctx, s.Seed, run)
		})
		if err != nil {
			return experiment.Outcome{}, err
		}
		seeds = append(seeds, trials)
	}
	return c.outcome(seeds), nil
}

func (c Config) trials(ctx context.Context, seed uint64, run int) ([]trial, error) {
	w, err := c.draw(seed, run)
	if err != nil {
		return nil, err
	}
	grid := c.grid()
	trials := make([]trial, len(grid))
	err = dense.ParallelErr(len(grid), func(i int) (err error) {
		if err = ctx.Err(); err == nil && c.Figure == 4 {
			trials[i], err = c.interference(w, grid[i])
		} else if err == nil {
			trials[i], err = c.curve(w, grid[i])
		}
		if err != nil {
			return fmt.Errorf("%+v: %w", grid[i], err)
		}
		return nil
	})
	return trials, err
}

// curve measures Figures 1 to 3: learning all training examples.
func (c Config) curve(w *world, s variant) (trial, error) {
	m, err := engine.New(s.config(c.Exponent), w.start)
	if err != nil {
		return trial{}, err
	}
	t := trial{Setting: s, Test: make([][]float64, c.Classes)}
	each := len(w.train[0])
	for i, x := range w.sequence(c.Figure == 1) {
		if err := m.Step(x); err != nil {
			return t, err
		}
		if c.Figure != 1 && (i+1)%each == 0 {
			m.EndClass()
		}
		if !c.isPoint(i+1, each) {
			continue
		}
		validation := 0.0
		for k := range c.Classes {
			t.Test[k] = append(t.Test[k], meanLogDensityNats(m, w.test[k]))
			validation += meanLogDensityNats(m, w.validation[k]) / float64(c.Classes)
		}
		t.Validation += (validation - t.Validation) / float64(len(t.Test[0]))
	}
	t.Pulled, t.Clamped = m.Pulls().All, m.Pulls().Clamped
	return t, nil
}

// isPoint reports whether a curve has a point after step k: at regular
// intervals, and where a class ends.
func (c Config) isPoint(k, each int) bool { return k%c.Every == 0 || k%each == 0 }

func (c Config) steps() []int {
	each := c.Train / c.Classes
	var steps []int
	for k := 1; k <= each*c.Classes; k++ {
		if c.isPoint(k, each) {
			steps = append(steps, k)
		}
	}
	return steps
}

// interference measures Figure 4: the log-likelihood of class j learned after
// class i, minus that of j learned alone.
func (c Config) interference(w *world, s variant) (trial, error) {
	t := trial{Setting: s, Test: make([][]float64, c.Classes)}
	first := make([]*engine.Model, c.Classes)
	for i := range first {
		var err error
		if first[i], err = engine.New(s.config(c.Exponent), w.start); err != nil {
			return t, err
		}
		if err := learn(first[i], w.train[i]); err != nil {
			return t, err
		}
	}
	for i := range first {
		t.Test[i] = make([]float64, c.Classes)
		for j := range first {
			m := first[i].Clone()
			if err := learn(m, w.train[j]); err != nil {
				return t, err
			}
			t.Test[i][j] = meanLogDensityNats(m, w.test[j]) - meanLogDensityNats(first[j], w.test[j])
			t.Validation += meanLogDensityNats(m, w.validation[j]) / float64(c.Classes*c.Classes)
			t.Pulled, t.Clamped = t.Pulled+m.Pulls().All, t.Clamped+m.Pulls().Clamped
		}
	}
	return t, nil
}

func learn(m *engine.Model, x [][]float64) error {
	for _, v := range x {
		if err := m.Step(v); err != nil {
			return err
		}
	}
	m.EndClass()
	return nil
}

func meanLogDensityNats(m *engine.Model, x [][]float64) float64 {
	g := m.Gaussian()
	var sum float64
	for _, v := range x {
		sum += g.LogDensityNats(v)
	}
	return sum / float64(len(x))
}
