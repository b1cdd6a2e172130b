package ncm

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

const (
	// batchRows bounds the rows scored in float64 at a time.
	batchRows = 256
	// fitValues bounds the scores held while fitting, 16 Mi (128 MiB); in larger
	// sessions only the first examples of every class are used.
	fitValues = 16 << 20
	// The search covers e^±logRange around the default and ends at logTol. The
	// limited range prevents a perfectly separated base session from making every
	// later probability 0 or 1.
	logRange = 4
	logTol   = 1e-4
)

// settle fits τ to the base session.
func (c Config) settle(ctx context.Context, m *model, s *moments.Session, known int) error {
	if known > 0 {
		return nil
	}
	m.Shared.Tau = c.Temperature
	if c.Temperature > 0 {
		return nil
	}
	means := c.meansOf(m)
	start := means.defaultTemperature(s)
	m.Shared.Tau = start
	if len(s.Classes) < 2 || !s.HasExamples() {
		return nil
	}
	scores, own, err := means.leaveOneOut(ctx, m.Classes.Values(), s)
	if err != nil || scores.Rows == 0 {
		return err
	}
	best, err := goldenSection(ctx, math.Log(start)-logRange, math.Log(start)+logRange, func(logTau float64) float64 {
		return nll(scores, own, math.Exp(-logTau))
	})
	m.Shared.Tau = math.Exp(best)
	return err
}

// defaultTemperature returns the typical size of τ, judged from the spread of
// the data.
func (m *means) defaultTemperature(s *moments.Session) float64 {
	if m.cosine {
		return DefaultTemperature
	}
	var sq float64
	n := s.X.Rows
	for i := range s.X.Rows {
		for j, v := range dense.Row32(s.X, i) {
			r := float64(v) - m.centre[j]
			sq += r * r
		}
	}
	for _, e := range s.Classes {
		if stats := e.Stats(); stats != nil {
			sq += stats.Trace()
			for j, v := range stats.Mean() {
				sq += float64(stats.N()) * (v - m.centre[j]) * (v - m.centre[j])
			}
			n += stats.N()
		}
	}
	if sq == 0 {
		return 1
	}
	return DefaultTemperature * sq / float64(n)
}

// leaveOneOut returns the scores (rows×C) of examples whose class has others,
// with the score of their own class computed without them, and the column of
// that class. Classes and columns have the same order in the base session.
func (m *means) leaveOneOut(ctx context.Context, totals []moments.Total,
	s *moments.Session) (blas64.General, []int, error) {
	perClass := max(2, fitValues/(len(totals)*len(totals)))
	var rows, own []int
	for c, e := range s.Classes {
		if len(e.Rows) > 1 {
			some := e.Rows[:min(perClass, len(e.Rows))]
			rows, own = append(rows, some...), append(own, slices.Repeat([]int{c}, len(some))...)
		}
	}
	scores := dense.New(len(rows), len(totals))
	for first := 0; first < len(rows); first += batchRows {
		if err := ctx.Err(); err != nil {
			return scores, nil, err
		}
		part, err := m.scores(dense.Gather32(s.X, rows[first:min(first+batchRows, len(rows))]))
		if err != nil {
			return scores, nil, err
		}
		copy(scores.Data[first*scores.Stride:], part.Data)
	}
	for i, r := range rows {
		dense.Row(scores, i)[own[i]] = m.scoreWithout(totals[own[i]], s.X, r)
	}
	return scores, own, nil
}

// scoreWithout scores row r of x against its class without the row itself.
func (m *means) scoreWithout(total moments.Total, x blas32.General, r int) float64 {
	var dot, sq, dist float64
	for j, v := range m.place(x, []int{r}).Data {
		rest := total.Sum[j] - v
		dot += rest * v
		sq += rest * rest
		diff := v - rest/float64(total.N-1)
		dist += diff * diff
	}
	if !m.cosine {
		return -dist / 2
	}
	if sq == 0 {
		return 0
	}
	return dot / math.Sqrt(sq)
}

// nll returns the mean negative log-likelihood at 1/τ.
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

// goldenSection returns the minimum of f, which has a single minimum, between a
// and b.
func goldenSection(ctx context.Context, a, b float64, f func(float64) float64) (float64, error) {
	const ratio = 0.6180339887498949
	c, d := b-ratio*(b-a), a+ratio*(b-a)
	fc, fd := f(c), f(d)
	for b-a > logTol {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if fc < fd { // among equals, the larger temperature: less overconfident
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
