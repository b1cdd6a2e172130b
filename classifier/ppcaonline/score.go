package ppcaonline

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/ppcaonline/oem"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

// guard is the share of the terms of a difference below which it has lost too
// many digits, even in float64, and is taken from vectors instead.
const guard = 1e-6

// A scorer holds the roots of all classes, stacked for one product a batch. It
// is immutable.
type scorer struct {
	roots   blas64.General // Σq×d
	means   blas64.General // C×d
	classes []scored
}

// scored is one class as the scorer sees it.
type scored struct {
	*oem.Gaussian
	first  int       // its first row in roots
	origin []float64 // Rμ
	norm   float64   // ‖μ‖²
}

func newScorer(dim int, models []*oem.Model) (*scorer, error) {
	s := &scorer{means: dense.New(len(models), dim)}
	for i, m := range models {
		g := m.Gaussian()
		root, err := g.Root()
		if err != nil {
			return nil, err
		}
		k := scored{Gaussian: g, first: s.roots.Rows, origin: make([]float64, root.Rows)}
		for r := range root.Rows {
			k.origin[r] = dot(dense.Row(root, r), g.Mean)
		}
		k.norm = dot(g.Mean, g.Mean)
		copy(dense.Row(s.means, i), g.Mean)
		s.roots.Rows += root.Rows
		s.roots.Data = append(s.roots.Data, root.Data...)
		s.classes = append(s.classes, k)
	}
	s.roots.Cols, s.roots.Stride = dim, dim
	return s, nil
}

// batch returns the log-densities (n×C) of a few rows.
func (h *Online) batch(x blas32.General) (blas64.General, error) {
	s := h.scorer
	z := classifier.Placed(x, classifier.Range(0, x.Rows), h.cfg.Normalize)
	projected, crossed := dense.New(x.Rows, s.roots.Rows), dense.New(x.Rows, len(s.classes))
	if s.roots.Rows > 0 {
		if err := linalg.MulTrans64(projected, z, s.roots); err != nil {
			return blas64.General{}, err
		}
	}
	if err := linalg.MulTrans64(crossed, z, s.means); err != nil {
		return blas64.General{}, err
	}
	scores := dense.New(x.Rows, len(s.classes))
	dense.Parallel(x.Rows, func(i int) {
		s.scoreRow(dense.Row(scores, i), dense.Row(z, i), dense.Row(projected, i), dense.Row(crossed, i))
	})
	return scores, nil
}

// scoreRow writes log N(z; μ, C) for every class. projected is Rz of all
// classes, crossed is μᵀz.
func (s *scorer) scoreRow(dst, z, projected, crossed []float64) {
	square := dot(z, z)
	for i := range s.classes {
		k := &s.classes[i]
		terms := square + k.norm
		r := terms - 2*crossed[i]
		for j, o := range k.origin {
			u := projected[k.first+j] - o
			r -= u * u
		}
		if !(r > guard*terms) || math.IsInf(terms, 0) {
			dst[i] = k.LogDensityNats(z)
			continue
		}
		dst[i] = -(float64(len(z))*math.Log(2*math.Pi) + k.LogDetNats() + r/k.Sigma2) / 2
	}
}

// Score implements classifier.Head in O(Cdq) per row. The novelty is −max
// log-density.
func (h *Online) Score(dst blas64.General, novelty []float64, x blas32.General) error {
	return h.scoring().Score(dst, novelty, x)
}

func (h *Online) scoring() classifier.Scoring {
	return classifier.Scoring{Method: "ppca-online", Head: h, Scores: h.batch, Batch: 64}
}

func dot(a, b []float64) float64 {
	var sum float64
	for j, v := range a {
		sum += v * b[j]
	}
	return sum
}
