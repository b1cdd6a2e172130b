package lowrank

import (
	"math"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// A Background is what the density of a class is compared with where an example may be
// of a class that was never learned: N(m, v·I), with m the mean of all class means and
// v·d the trace of the covariance of all classes together (eq. 4.14). A background of
// full covariance tells unknown from known classes no better (docs/log/novelty.md).
//
// The zero Background is 0 everywhere: a single class has nothing to be compared with.
type Background struct{ precision, constant float64 }

// NewBackground returns the background of classes with means μ and traces of covariances
// tr Σ, in the frame of their mean. Its scores lack the terms that a Gaussian of
// variance unit in every direction has, and the log-determinant unless logDet is set.
// O(Cd).
func NewBackground(means [][]float64, traces []float64, centre []float64, unit float64, logDet bool) Background {
	if len(means) < 2 {
		return Background{}
	}
	var sum float64
	for i, mean := range means {
		sum += traces[i] + dense.SquaredDistance(mean, centre)
	}
	d := float64(len(centre))
	v := sum / (float64(len(means)) * d)
	b := Background{precision: 1 / v}
	if logDet {
		b.constant = d * math.Log(v/unit)
	}
	return b
}

// BackgroundOf returns the background of Gaussians that share one λ; its scores compare
// with those of their Stack.
func BackgroundOf(gs []Gaussian, centre []float64, logDet bool) Background {
	means, traces := make([][]float64, len(gs)), make([]float64, len(gs))
	for i := range gs {
		means[i], traces[i] = gs[i].Mean, float64(gs[i].Dim())*gs[i].Lambda
		for _, v := range gs[i].Values {
			traces[i] += v
		}
	}
	return NewBackground(means, traces, centre, gs[0].Lambda, logDet)
}

// Score returns the score of an example whose squared distance from m is given.
func (b Background) Score(squared float64) float64 { return -(squared*b.precision + b.constant) / 2 }

// Background returns the scores of all rows; the centre of q is m.
func (q *Queries) Background(b Background) []float64 {
	out := make([]float64, len(q.length))
	for i, l := range q.length {
		out[i] = b.Score(l * l)
	}
	return out
}
