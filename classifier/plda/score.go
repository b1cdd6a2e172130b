package plda

import (
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/moments"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

// posterior is the predictive density of a class, expanded:
// log p(x|c) = weight·z + offset − ½·quadratic(z), where the quadratic part
// depends on the class through its number of examples only.
type posterior struct {
	weight []float64 // d: μ/(1+v), back in whitened coordinates
	offset float64   // −½ Σ μ²/(1+v) − ½ Σ log(1+v)
}

// posteriors returns those of totals; of a total without examples, nothing
// that means anything.
func (sp *space) posteriors(totals []moments.Total) ([]posterior, error) {
	means := linalg.New64(len(totals), len(sp.origin))
	for i, t := range totals {
		copy(means.Data[i*means.Stride:], t.Mean())
	}
	white, err := sp.whitened(means)
	if err != nil {
		return nil, err
	}
	along, err := sp.along(white)
	if err != nil {
		return nil, err
	}
	out := make([]posterior, len(totals))
	linalg.Parallel(len(totals), func(i int) {
		d, r := white.Cols, along.Cols
		out[i] = sp.posterior(float64(totals[i].N), white.Data[i*d:(i+1)*d], along.Data[i*r:(i+1)*r])
	})
	return out, nil
}

// posterior takes a whitened mean and its coordinates along V.
func (sp *space) posterior(n float64, white, along []float64) posterior {
	p := posterior{weight: make([]float64, len(white)), offset: -sp.logSum1(n) / 2}
	beside := append([]float64(nil), white...)
	for i, a := range along {
		b := sp.beta[i]
		mu := gain(b, n) * a
		w := mu / (1 + variance(b, n))
		p.offset -= mu * w / 2
		for j, v := range sp.directions.Data[i*len(white) : (i+1)*len(white)] {
			p.weight[j] += w * v
			beside[j] -= a * v
		}
	}
	for j, v := range beside {
		mu := gain(sp.rest, n) * v
		w := mu / (1 + variance(sp.rest, n))
		p.offset -= mu * w / 2
		p.weight[j] += w
	}
	return p
}

// A scorer stacks the classes for one product a batch. It is immutable.
type scorer struct {
	space   *space
	weights blas64.General // C×d
	offset  []float64
	// Classes of equal size share the quadratic part: row precision[size[c]]
	// holds 1/(1+v) along V, and last that of the rest.
	precision blas64.General
	size      []int
}

func newScorer(sp *space, classes []class) *scorer {
	s := &scorer{space: sp, weights: linalg.New64(len(classes), len(sp.origin)), offset: make([]float64, len(classes)), size: make([]int, len(classes))}
	row := make(map[int]int)
	var sizes []int
	for i, c := range classes {
		copy(s.weights.Data[i*s.weights.Stride:], c.weight)
		s.offset[i] = c.offset
		if _, ok := row[c.N]; !ok {
			row[c.N] = len(sizes)
			sizes = append(sizes, c.N)
		}
		s.size[i] = row[c.N]
	}
	s.precision = linalg.New64(len(sizes), len(sp.beta)+1)
	for i, n := range sizes {
		p := s.precision.Data[i*s.precision.Stride:]
		for j, b := range sp.beta {
			p[j] = 1 / (1 + variance(b, float64(n)))
		}
		p[len(sp.beta)] = 1 / (1 + variance(sp.rest, float64(n)))
	}
	return s
}

// batch returns the log-densities (n×C) of a few rows.
func (s *scorer) batch(x blas32.General) (blas64.General, error) {
	scores := linalg.New64(x.Rows, len(s.offset))
	white, err := s.space.whitened(classifier.Placed(x, classifier.Range(0, x.Rows), true))
	if err != nil {
		return scores, err
	}
	along, err := s.space.along(white)
	if err != nil {
		return scores, err
	}
	quadratic := linalg.New64(x.Rows, s.precision.Rows)
	if err := linalg.MulTrans64(quadratic, squares(white, along), s.precision); err != nil {
		return scores, err
	}
	if err := linalg.MulTrans64(scores, white, s.weights); err != nil {
		return scores, err
	}
	for i := range scores.Rows {
		for c, u := range s.size {
			scores.Data[i*scores.Stride+c] += s.offset[c] - quadratic.Data[i*quadratic.Stride+u]/2
		}
	}
	return scores, nil
}

// squares returns the squared coordinates along V of every row, and last the
// squared length of what is beside them.
func squares(white, along blas64.General) blas64.General {
	r := along.Cols
	out := linalg.New64(white.Rows, r+1)
	for i := range white.Rows {
		v := blas64.Vector{N: white.Cols, Data: white.Data[i*white.Stride:], Inc: 1}
		beside := blas64.Dot(v, v)
		for j := range r {
			a := along.Data[i*along.Stride+j]
			out.Data[i*out.Stride+j] = a * a
			beside -= a * a
		}
		if r < white.Cols {
			out.Data[i*out.Stride+r] = max(beside, 0)
		}
	}
	return out
}
