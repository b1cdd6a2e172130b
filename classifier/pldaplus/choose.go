package pldaplus

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// A Choice is the setting chosen by pseudo-sessions, with the scores of the
// plain settings and of the best calibrated one.
type Choice = episodes.Choice[Setting]

// The candidates. κ and T are in nats of the density.
func nus() []float64          { return []float64{Pooled, 3000, 1000, 300, 100, 30} }
func kappas() []float64       { return []float64{0, 100, 200, 400, 800} }
func temperatures() []float64 { return []float64{1, 16, 32, 64} }
func reranks() []float64      { return []float64{0, 0.5, 1, 2} }

// plains returns the candidates without calibration.
func (c Config) plains() []Setting {
	if c.Nu != Auto {
		return []Setting{plain(c.Nu)}
	}
	var out []Setting
	for _, nu := range nus() {
		out = append(out, plain(nu))
	}
	return out
}

// calibrated returns the candidates with calibration, without b; rerank reports
// whether there is a regression.
func (c Config) calibrated(rerank bool) []Setting {
	if !c.Calibrate {
		return nil
	}
	var out []Setting
	for _, p := range c.plains() {
		for _, kappa := range kappas() {
			for _, temperature := range temperatures() {
				for _, g := range reranks() {
					if g == 0 || rerank {
						out = append(out, Setting{Nu: p.Nu, Kappa: kappa, Temperature: temperature, Rerank: g})
					}
				}
			}
		}
	}
	return out
}

// drawn returns how pseudo-sessions are drawn.
func (c Config) drawn() episodes.Config {
	d := episodes.Seeded(c.Seed)
	d.Splits = c.Splits
	return d
}

// A chooser has what pseudo-sessions need besides their examples.
type chooser struct {
	Config
	backend linalg.Backend
	prior   *gauss.Prior
	weight  float64
}

// choose returns the best setting for a base session: ν by the selection rule
// of package episodes, and the calibrated setting if it gains more than a standard error.
func (c chooser) choose(ctx context.Context, s *moments.Session) (Choice, error) {
	if !s.HasExamples() {
		return c.fallback(episodes.NoExamples), nil
	}
	rerank := c.Calibrate && logisticFits(s.X.Rows, s.Dim, len(s.Classes))
	trials, err := episodes.Each(ctx, s.X, s.Y, c.drawn(), func(ctx context.Context, d episodes.Draw) (*trial, error) {
		return c.try(ctx, d, rerank)
	})
	var little *episodes.TooLittleError
	if errors.As(err, &little) {
		return c.fallback(little.Error()), nil
	}
	if err != nil {
		return Choice{}, err
	}
	return c.decide(trials), nil
}

// fallback returns the choice if pseudo-sessions are not possible.
func (c Config) fallback(reason string) Choice {
	nu := c.Nu
	if nu == Auto {
		nu = Pooled
	}
	return Choice{Value: plain(nu), Config: c.drawn(), Fallback: reason}
}

// decide compares the candidates over all splits.
func (c Config) decide(trials []*trial) Choice {
	plains := c.plains()
	n := len(plains)
	candidates := append(slices.Clone(plains), trials[0].candidates[n:]...)
	dense.Parallel(len(candidates)-n, func(i int) { candidates[n+i].Later = bestShift(trials, n+i) })
	results := make([][]episodes.Result, len(trials))
	for i, t := range trials {
		results[i] = make([]episodes.Result, len(candidates))
		dense.Parallel(len(candidates), func(k int) { results[i][k] = t.result(k, candidates[k].Later) })
	}
	only := make([][]episodes.Result, len(results))
	for i, r := range results {
		only[i] = r[:n]
	}
	choice := episodes.Pick(c.drawn(), plains, only)
	if len(candidates) == n {
		return choice
	}
	all := episodes.Pick(c.drawn(), candidates, results)
	best := slices.Index(candidates, all.Value)
	if best < n {
		return choice
	}
	choice.Scores = append(choice.Scores, all.Scores[best])
	if gains(results, best, slices.Index(candidates, choice.Value)) {
		choice.Value = all.Value
	}
	return choice
}

// gains reports whether candidate a is more accurate than b by more than a standard
// error. To ask for a point besides, as earlier versions did, costs more than it
// protects: where a network has learned the images of the base session itself, few
// errors are left to correct among them.
func gains(results [][]episodes.Result, a, b int) bool {
	mean, sem := episodes.Gain(results, a, b)
	return mean > sem
}

// bestShift returns the b that is most accurate over the splits, from the
// quantiles of the shifts that would bring a later class level with the base
// classes; among equals, the smallest.
func bestShift(trials []*trial, k int) float64 {
	var gaps []float64
	for _, t := range trials {
		for _, r := range t.rows[k] {
			gaps = append(gaps, -float64(r.gap))
		}
	}
	slices.Sort(gaps)
	tried := make([]float64, shifts)
	for i := range tried {
		tried[i] = gaps[(len(gaps)-1)*(2*i+1)/(2*shifts)]
	}
	best, most := 0.0, accuracies(trials, k, []float64{0})[0]
	for i, a := range accuracies(trials, k, tried) {
		b := tried[i]
		if a > most+1e-12 || a > most-1e-12 && math.Abs(b) < math.Abs(best) {
			best, most = b, a
		}
	}
	return best
}

// shifts is the number of values of b to try.
const shifts = 80

// accuracies returns the mean of those of the trials.
func accuracies(trials []*trial, k int, shifts []float64) []float64 {
	sum := make([]float64, len(shifts))
	for _, t := range trials {
		for i, a := range t.accuracies(k, shifts) {
			sum[i] += a / float64(len(trials))
		}
	}
	return sum
}
