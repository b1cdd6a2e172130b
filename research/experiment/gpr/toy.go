package gpr

import (
	"context"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

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

// The toy: classes of clusters with this many examples and this standard
// deviation, in a square of side 2·reach.
const (
	toyExamples = 12
	toySpan     = 0.3
	toyReach    = 2
)

// toySteps are the clusters that arrive in each step: the first two classes,
// more of the first one, and a new class.
func toySteps() [][]toyCluster {
	return [][]toyCluster{{{0, -1, 1}, {1, 1, 1}}, {{0, -1, -1}}, {{2, 1, -1}}}
}

type toyCluster struct {
	class int
	x, y  float64
}

type toyStep struct {
	examples [][2]float64 // all so far
	classes  []int        // of each
	// scores are the predictive means (eq. 2) of each known class, variance the
	// predictive variance (eq. 3), at the points of the grid.
	scores   [][]float64
	variance []float64
	// off is the largest difference in scores from a batch fit.
	off float64
}

func (c Config) toy(ctx context.Context, env experiment.Env) ([]toyStep, error) {
	how := method.Get[gpr.Config](env.Heads, "gpr").Update
	r, err := unfitted(env, how)
	if err != nil {
		return nil, err
	}
	rng := random.Stream(env.Seed, "experiment/gpr/toy")
	var out []toyStep
	var step toyStep
	for _, clusters := range toySteps() {
		known := r.Outputs()
		for _, k := range clusters {
			for range toyExamples {
				step.examples = append(step.examples,
					[2]float64{k.x + toySpan*rng.NormFloat64(), k.y + toySpan*rng.NormFloat64()})
				step.classes = append(step.classes, k.class)
			}
		}
		x, t := step.data()
		n := r.Len()
		if n > 0 && t.Cols > known { // the examples so far are not of the new classes
			if err := r.AddOutputs(ctx, columns(dense.Rows(t, 0, n), known)); err != nil {
				return nil, err
			}
		}
		if err := r.Add(ctx, dense.Rows(x, n, x.Rows), dense.Rows(t, n, t.Rows)); err != nil {
			return nil, err
		}
		batch, err := unfitted(env, engine.Cholesky)
		if err != nil {
			return nil, err
		}
		if err := batch.Add(ctx, x, t); err != nil {
			return nil, err
		}
		if err := step.score(r, batch, experiment.Plane(c.Grid, toyReach)); err != nil {
			return nil, err
		}
		out = append(out, step)
	}
	return out, nil
}

// data returns all examples (n×2) and their targets of ±1 (n×C).
func (s toyStep) data() (x, t blas64.General) {
	most := 0
	for _, c := range s.classes {
		most = max(most, c)
	}
	x, t = dense.New(len(s.classes), 2), dense.New(len(s.classes), most+1)
	for i, c := range s.classes {
		copy(dense.Row(x, i), s.examples[i][:])
		for k := range most + 1 {
			dense.Row(t, i)[k] = -1
		}
		dense.Row(t, i)[c] = 1
	}
	return x, t
}

// columns returns the columns of m from the given one on, sharing its memory.
func columns(m blas64.General, from int) blas64.General {
	return blas64.General{Rows: m.Rows, Cols: m.Cols - from, Stride: m.Stride, Data: m.Data[from:]}
}

func (s *toyStep) score(r, batch *engine.Regression, at blas64.General) error {
	mean, want := dense.New(at.Rows, r.Outputs()), dense.New(at.Rows, r.Outputs())
	s.variance = make([]float64, at.Rows)
	if err := r.Mean(mean, at); err != nil {
		return err
	}
	if err := batch.Mean(want, at); err != nil {
		return err
	}
	s.scores, s.off = make([][]float64, r.Outputs()), 0
	for k := range s.scores {
		for i := range at.Rows {
			s.scores[k] = append(s.scores[k], dense.Row(mean, i)[k])
			s.off = max(s.off, math.Abs(dense.Row(mean, i)[k]-dense.Row(want, i)[k]))
		}
	}
	return r.Variance(s.variance, at)
}

func toyCells(steps []toyStep) grid.Grid {
	var cells grid.Grid
	for i, s := range steps {
		cells.Add(grid.At("step", i+1), grid.Values{
			"examples": float64(len(s.examples)), "classes": float64(len(s.scores)), "off": s.off,
		})
	}
	return cells
}

// addToy draws one row per step: the score of each class, from −1 to 1, and the
// predictive standard deviation.
func (c Config) addToy(o *experiment.Outcome, steps []toyStep, cells grid.Grid) {
	o.Tables = append(o.Tables, cells.Table(table.Table{
		Name: "toy", Title: "Learning step by step (Fig. 1)",
		Note: "off is the largest difference in a score between the updated regression and a batch fit.",
	}, []string{"step"},
		grid.Column{Title: "examples", Of: "examples", Show: grid.Mean("%.0f", 1)},
		grid.Column{Title: "classes", Of: "classes", Show: grid.Mean("%.0f", 1)},
		grid.Column{Title: "off", Of: "off", Show: grid.Mean("%.0e", 1)}))
	most := 0.0
	for _, s := range steps {
		most = max(most, math.Sqrt(slices.Max(s.variance)))
	}
	last := steps[len(steps)-1]
	var rows []chart.Row
	for i, s := range steps {
		var row []chart.Panel
		for k := range last.scores {
			p := chart.Panel{Title: fmt.Sprintf("class %d", k+1), Side: c.Grid, Points: s.points(),
				Value: func(at int) float64 { return (1 + s.scores[k][at]) / 2 }}
			if k >= len(s.scores) {
				p.Title += " (unknown)"
				p.Value, p.Points = func(int) float64 { return math.NaN() }, nil
			}
			row = append(row, p)
		}
		row = append(row, chart.Panel{Title: fmt.Sprintf("deviation, 0 … %.2f", most), Points: s.points(),
			Side: c.Grid, Value: func(at int) float64 { return math.Sqrt(s.variance[at]) / most }})
		rows = append(rows, chart.Row{Label: fmt.Sprintf("step %d", i+1), Panels: row})
	}
	o.Figures = append(o.Figures, chart.Panels("fig1",
		"Scores of incremental GP regression · toy: more examples of class 1, then class 3", -toyReach, toyReach,
		[]string{"−1", "0", "1"}, rows))
}

func (s toyStep) points() []chart.Points {
	colours := []color.NRGBA{{220, 60, 60, 255}, {80, 170, 255, 255}, {230, 60, 230, 255}}
	out := make([]chart.Points, len(s.scores))
	for i, c := range s.classes {
		out[c].Colour = colours[c%len(colours)]
		out[c].XY = append(out[c].XY, s.examples[i])
	}
	return out
}
