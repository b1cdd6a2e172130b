package gauss

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// A Spacer is a head with a space; it is nil before the base session.
type Spacer interface{ Space() *Space }

// An Adaptable head has class means that a folder of photos without labels can move:
// a copy of it learns one more example of a class in O(d²).
type Adaptable interface {
	Spacer
	moments.Learner
	classifier.Cloner
	// Adaptable reports whether a class mean is uncertain, so that one example moves it.
	Adaptable() bool
}

// Coordinates returns what Evidence weighs, for whitened rows z (n×d): the
// coordinates along V, then the remainder (n×(r+d)). O(ndr).
func (sp *Space) Coordinates(white blas64.General) (blas64.General, error) {
	along, err := sp.along(white)
	if err != nil {
		return along, err
	}
	r := along.Cols
	out := dense.New(white.Rows, r+white.Cols)
	for i := range white.Rows {
		row := dense.Row(out, i)
		copy(row, dense.Row(along, i))
		copy(row[r:], dense.Row(white, i))
		for k, a := range row[:r] {
			blas64.Axpy(-a, dense.Vector(sp.direction(k)), dense.Vector(row[r:]))
		}
	}
	return out, nil
}

// Evidence returns weights (r+d) and a constant c such that n rows, whose
// Coordinates sum to s, are
//
//	Σ weights·s² − c = ½ Σ βs²/(1+nβ) − ½ Σ log(1+nβ)
//
// nats more probable as examples of one class of unknown mean than as noise
// around m₀. The difference between the evidence of two sets together and that
// of each is the log-likelihood ratio of one class against two, the score of
// speaker verification (Brümmer and de Villiers 2010).
func (sp *Space) Evidence(n float64) (weights []float64, c float64) {
	r, d := len(sp.Beta), sp.Dim()
	weights = make([]float64, r+d)
	weight := func(beta float64) float64 { return beta / (1 + n*beta) / 2 }
	for i, b := range sp.Beta {
		weights[i] = weight(b)
		c += math.Log1p(n*b) / 2
	}
	for j := r; j < r+d; j++ {
		weights[j] = weight(sp.Rest)
	}
	return weights, c + float64(d-r)*math.Log1p(n*sp.Rest)/2
}

// withinShare is the share of the variance of images of unknown classes that is
// within classes, if nothing is known about them.
const withinShare = 0.6

// Isotropic returns a space for rows (n×d) of which no classes are known: W and
// B are multiples of I that add up to the variance of the rows.
func Isotropic(x blas64.General) *Space {
	sp := &Space{Origin: make([]float64, x.Cols), Directions: dense.New(0, x.Cols), Rest: 1/withinShare - 1}
	if x.Rows > 0 {
		sp.Origin = dense.MeanRow(x)
	}
	sp.Whiten = even(x.Cols, 1/math.Sqrt(withinShare*spread(x, sp.Origin)))
	return sp
}

// spread returns the mean variance per coordinate of rows around their origin,
// or 1/d (from embeddings of length 1) if they are all the same.
func spread(x blas64.General, origin []float64) float64 {
	var sq float64
	for i := range x.Rows {
		for j, v := range dense.Row(x, i) {
			sq += (v - origin[j]) * (v - origin[j])
		}
	}
	if d := float64(x.Cols); sq > noSpread {
		return sq / float64(x.Rows) / d
	}
	return 1 / float64(x.Cols)
}
