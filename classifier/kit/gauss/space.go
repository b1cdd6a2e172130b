package gauss

import (
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// DefaultLength is the default of Space.Length: half-way, as a ratio.
const DefaultLength = 0.5

// A Space holds what all classes share: the origin, the whitening, and the
// variance of class means in each direction. It is immutable.
type Space struct {
	Origin     []float64      // m₀
	Whiten     Whitening      // L⁻¹
	Directions blas64.General // V, r×d, orthonormal
	Beta       []float64      // β along V
	Rest       float64        // β₀ in the other d−r directions
	// Certain treats the means of classes with examples as known: μ is the mean of
	// the examples and v = 0.
	Certain bool
	// Length is η, 0 to 1: how far the length of a class mean is moved towards the one
	// that β lets expect. It has no effect on known means.
	Length float64

	mul linalg.Backend // nil is linalg.Default
}

// On returns the same space with m as its backend.
func (sp *Space) On(m linalg.Backend) *Space {
	out := *sp
	out.mul = m
	return &out
}

// Backend returns the backend of the space.
func (sp *Space) Backend() linalg.Backend { return sp.mul }

// Dim returns d.
func (sp *Space) Dim() int { return len(sp.Origin) }

// variance returns v = β/(1+nβ), that of a class mean after n examples.
func (sp *Space) variance(beta, n float64) float64 {
	if sp.Certain && n > 0 {
		return 0
	}
	return beta / (1 + n*beta)
}

// Spread returns 1+v, the mean over all directions: the variance that the space expects
// between an example and the posterior mean of a class of n examples.
func (sp *Space) Spread(n int) float64 {
	d, rest := float64(sp.Dim()), float64(sp.Dim()-len(sp.Beta))
	sum := rest * sp.variance(sp.Rest, float64(n))
	for _, beta := range sp.Beta {
		sum += sp.variance(beta, float64(n))
	}
	return 1 + sum/d
}

// gain returns β/(β+1/n), how far the posterior mean moves toward the mean of
// the examples.
func (sp *Space) gain(beta, n float64) float64 {
	if sp.Certain && n > 0 {
		return 1
	}
	return n * beta / (1 + n*beta)
}

// Whitened returns L⁻¹(z−m₀) for the rows of z (n×d), which it centres in
// place. O(nd²).
func (sp *Space) Whitened(z blas64.General) (blas64.General, error) {
	dense.SubtractRow(z, sp.Origin)
	return sp.Turned(z)
}

// WhitenedRows scales embeddings to length 1 and whitens them.
func (sp *Space) WhitenedRows(x blas32.General) (blas64.General, error) {
	return sp.Whitened(classifier.Placed(x, dense.Range(0, x.Rows), true))
}

// Means returns the whitened means of the classes (C×d), zero for a class without
// examples.
func (sp *Space) Means(totals []moments.Total) (blas64.General, error) {
	white, err := sp.Whitened(meansOf(totals, sp.Dim()))
	for i, t := range totals {
		if err == nil && t.N == 0 {
			clear(dense.Row(white, i))
		}
	}
	return white, err
}

// Pooled returns the densities of classes that have the shared covariance alone.
func (sp *Space) Pooled(totals []moments.Total) ([]*Density, error) {
	white, err := sp.Means(totals)
	if err != nil {
		return nil, err
	}
	classes := make([]Class, len(totals))
	for i, t := range totals {
		classes[i] = Class{N: t.N, Mean: dense.Row(white, i), Noise: 1}
	}
	return sp.Densities(classes)
}

// Turned returns L⁻¹z for the rows of z (n×d): Whitened for rows that are
// already centred.
func (sp *Space) Turned(z blas64.General) (blas64.General, error) {
	return sp.Whiten.times(sp.Backend(), z)
}

// along returns the coordinates V·z (n×r) of whitened rows. O(ndr).
func (sp *Space) along(white blas64.General) (blas64.General, error) {
	out := dense.New(white.Rows, len(sp.Beta))
	if len(sp.Beta) == 0 || white.Rows == 0 {
		return out, nil
	}
	return out, sp.Backend().MulTrans64(out, white, sp.Directions)
}
