package ncm

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

const (
	// fitValues bounds the scores held while fitting, 16 Mi (128 MiB); of
	// larger sessions the first examples of every class are used.
	fitValues = 16 << 20
	// The search covers e^±logRange about the default and ends at logTol.
	// The range keeps a base session without a single doubt from making every
	// later probability 0 or 1.
	logRange = 4
	logTol   = 1e-4
)

// fitTemperature returns the τ of least leave-one-out negative log-likelihood
// of the base session.
func fitTemperature(ctx context.Context, cfg Config, m *model, x blas32.General, groups []classifier.Group) (float64, error) {
	start := defaultTemperature(cfg, m, x)
	if len(groups) < 2 {
		return start, nil
	}
	s, own, err := leaveOneOut(ctx, cfg, m, x, groups)
	if err != nil {
		return 0, err
	}
	if s.Rows == 0 {
		return start, nil
	}
	best, err := goldenSection(ctx, math.Log(start)-logRange, math.Log(start)+logRange, func(logTau float64) float64 {
		return nll(s, own, math.Exp(-logTau))
	})
	return math.Exp(best), err
}

// defaultTemperature is what τ is about, seen from the spread of the data.
func defaultTemperature(cfg Config, m *model, x blas32.General) float64 {
	if cfg.Metric == Cosine {
		return DefaultTemperature
	}
	var sq float64
	for i := range x.Rows {
		for j, v := range dense.Row32(x, i) {
			r := float64(v) - m.centre[j]
			sq += r * r
		}
	}
	if sq == 0 {
		return 1
	}
	return DefaultTemperature * sq / float64(x.Rows)
}

// leaveOneOut returns the scores (rows×C) of examples whose class has others,
// their own column computed without them, and the number of that column.
// Groups and columns have the same order in the base session.
func leaveOneOut(ctx context.Context, cfg Config, m *model, x blas32.General, groups []classifier.Group) (blas64.General, []int, error) {
	perClass := max(2, fitValues/(len(groups)*len(groups)))
	var rows, own []int
	for c, g := range groups {
		if len(g.Rows) > 1 {
			g.Rows = g.Rows[:min(perClass, len(g.Rows))]
			rows = append(rows, g.Rows...)
			for range g.Rows {
				own = append(own, c)
			}
		}
	}
	s := dense.New(len(rows), len(groups))
	for first := 0; first < len(rows); first += batchRows {
		if err := ctx.Err(); err != nil {
			return s, nil, err
		}
		last := min(first+batchRows, len(rows))
		part, err := m.scores(cfg, dense.Gather32(x, rows[first:last]))
		if err != nil {
			return s, nil, err
		}
		copy(s.Data[first*s.Stride:], part.Data)
	}
	for i, r := range rows {
		s.Data[i*s.Stride+own[i]] = scoreWithout(cfg, m.classes.Values()[own[i]], x, r)
	}
	return s, own, nil
}

// scoreWithout scores row r of x against its class without the row itself.
func scoreWithout(cfg Config, total moments.Total, x blas32.General, r int) float64 {
	z := cfg.place(x, []int{r}).Data
	var dot, sq, dist float64
	for j, v := range z {
		rest := total.Sum[j] - v
		dot += rest * v
		sq += rest * rest
		diff := v - rest/float64(total.N-1)
		dist += diff * diff
	}
	if cfg.Metric == Euclidean {
		return -dist / 2
	}
	if sq == 0 {
		return 0
	}
	return dot / math.Sqrt(sq)
}

// nll is the mean negative log-likelihood at 1/τ.
func nll(s blas64.General, own []int, perTau float64) float64 {
	loss := make([]float64, s.Rows)
	dense.Parallel((s.Rows+batchRows-1)/batchRows, func(t int) {
		row := make([]float64, s.Cols)
		for i := t * batchRows; i < min((t+1)*batchRows, s.Rows); i++ {
			for j, v := range s.Data[i*s.Stride : i*s.Stride+s.Cols] {
				row[j] = v * perTau
			}
			loss[i] = classifier.LogSumExp(row) - row[own[i]]
		}
	})
	var sum float64
	for _, l := range loss {
		sum += l
	}
	return sum / float64(s.Rows)
}

// goldenSection returns the minimum of f, which has one, between a and b.
func goldenSection(ctx context.Context, a, b float64, f func(float64) float64) (float64, error) {
	const ratio = 0.6180339887498949
	c, d := b-ratio*(b-a), a+ratio*(b-a)
	fc, fd := f(c), f(d)
	for b-a > logTol {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if fc < fd { // of equals, the larger temperature: less sure of itself
			b, d, fd = d, c, fc
			c = b - ratio*(b-a)
			fc = f(c)
		} else {
			a, c, fc = c, d, fd
			d = a + ratio*(b-a)
			fd = f(d)
		}
	}
	return (a + b) / 2, nil
}
