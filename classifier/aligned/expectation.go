package aligned

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/gauss"
	"github.com/seed-90d10d51/pipeline/classifier/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

// An expectation is the loss of a linear classifier expected under the
// predictive densities of classes that are equally likely. Some rows of the
// classifier may be fixed.
type expectation struct {
	mul    linalg.Backend
	means  blas64.General // C×d, μ
	turned blas64.General // d×C
	groups []group
	target []int // the row of each class, −1 where it is fixed
	rows   int   // K, number of rows that are not fixed
	// fixed holds for each class and point the log-sum-exp of the scores of fixed
	// rows; nil without any.
	fixed [][]float64
}

// A group is the classes with equally many examples, which have the same
// covariance and so the same deviations from their means. That makes their
// scores a sum: of a deviation, shared by the classes, and of a mean.
type group struct {
	classes    []int
	deviations blas64.General // m×d
	turned     blas64.General // d×m
}

// newExpectation takes O(Gmdr) for G different numbers of examples.
func newExpectation(sp *gauss.Space, totals []moments.Total) (*expectation, error) {
	fitted, err := densities(sp, totals)
	if err != nil {
		return nil, err
	}
	e := &expectation{mul: sp.Backend(), means: dense.New(len(totals), sp.Dim())}
	standard := points(sp.Dim())
	at := make(map[int]int)
	for c, t := range totals {
		copy(dense.Row(e.means, c), fitted[c].Mean())
		i, ok := at[t.N]
		if !ok {
			i, at[t.N] = len(e.groups), len(e.groups)
			g := group{}
			if g.deviations, err = sp.Deviations(standard, t.N); err != nil {
				return nil, err
			}
			g.turned = dense.Transposed(g.deviations)
			e.groups = append(e.groups, g)
		}
		e.groups[i].classes = append(e.groups[i].classes, c)
	}
	e.turned = dense.Transposed(e.means)
	return e, nil
}

// fix sets the rows that stay as they are (n×(d+1)). O((C+Gd)mn).
func (e *expectation) fix(ctx context.Context, rows blas64.General) error {
	e.fixed = make([][]float64, e.means.Rows)
	return e.each(ctx, rows.Data, rows.Rows, func(g group, ofDeviations, ofMeans blas64.General) error {
		dense.Parallel(len(g.classes), func(k int) {
			c := g.classes[k]
			e.fixed[c] = make([]float64, ofDeviations.Rows)
			scores := make([]float64, rows.Rows)
			for i := range e.fixed[c] {
				sum(scores, dense.Row(ofDeviations, i), dense.Row(ofMeans, c))
				e.fixed[c][i] = classifier.LogSumExp(scores)
			}
		})
		return nil
	})
}

// each calls do for every group with the products of the deviations (m×K) and of
// all means (C×K, with the constants) with K rows.
func (e *expectation) each(ctx context.Context, w []float64, K int, do func(g group, ofDeviations, ofMeans blas64.General) error) error {
	C, d := e.means.Rows, e.means.Cols
	weight := blas64.General{Rows: K, Cols: d, Stride: d + 1, Data: w}
	ofMeans := dense.New(C, K)
	if err := e.mul.MulTrans64(ofMeans, e.means, weight); err != nil {
		return err
	}
	for c := range C {
		row := dense.Row(ofMeans, c)
		for k := range row {
			row[k] += w[k*(d+1)+d]
		}
	}
	for _, g := range e.groups {
		if err := ctx.Err(); err != nil {
			return err
		}
		ofDeviations := dense.New(g.deviations.Rows, K)
		if err := e.mul.MulTrans64(ofDeviations, g.deviations, weight); err != nil {
			return err
		}
		if err := do(g, ofDeviations, ofMeans); err != nil {
			return err
		}
	}
	return nil
}

// blocks is the number of parts that the points of a group are split into, to
// be processed in parallel and added up in a fixed order.
const blocks = 16

// loss implements logistic.Loss. It takes O(CmK) exponentials and O((C+Gm)dK).
func (e *expectation) loss(ctx context.Context, w []float64) (float64, []float64, error) {
	C, d, K := e.means.Rows, e.means.Cols, e.rows
	gradient := dense.New(K, d+1)
	part := dense.New(K, d)
	total := dense.New(K, C) // sums of the residuals of each class
	var loss float64
	err := e.each(ctx, w, K, func(g group, ofDeviations, ofMeans blas64.General) error {
		m := ofDeviations.Rows
		residual := dense.New(K, m) // sums over the classes of the group
		size := (m + blocks - 1) / blocks
		losses, totals := make([]float64, blocks), make([]blas64.General, blocks)
		dense.Parallel(blocks, func(b int) {
			totals[b] = dense.New(C, K)
			losses[b] = e.addPoints(residual, totals[b], g, ofDeviations, ofMeans, b*size, min((b+1)*size, m))
		})
		scale := 1 / float64(C*m)
		for b := range blocks {
			loss += scale * losses[b]
			dense.Add(total, scale, dense.Transposed(totals[b]))
		}
		if err := e.mul.MulTrans64(part, residual, g.turned); err != nil {
			return err
		}
		dense.Add(dense.View(gradient, 0, 0, K, d), scale, part)
		return nil
	})
	if err != nil {
		return 0, nil, err
	}
	if err := e.mul.MulTrans64(part, total, e.turned); err != nil {
		return 0, nil, err
	}
	dense.Add(dense.View(gradient, 0, 0, K, d), 1, part)
	for k := range K {
		for _, v := range dense.Row(total, k) {
			gradient.Data[k*(d+1)+d] += v
		}
	}
	return loss, gradient.Data, nil
}

// addPoints adds the residuals p − [its row] of some points, summed over the
// classes of the group, to columns of residual (K×m), and summed over the
// points, to the rows of total (C×K). It returns the sum of the losses.
func (e *expectation) addPoints(residual, total blas64.General, g group, ofDeviations, ofMeans blas64.General, first, last int) float64 {
	K := ofMeans.Cols
	scores, sums := make([]float64, K), make([]float64, K)
	var loss float64
	for i := first; i < last; i++ {
		clear(sums)
		for _, c := range g.classes {
			fixed := math.Inf(-1)
			if e.fixed != nil {
				fixed = e.fixed[c][i]
			}
			sum(scores, dense.Row(ofDeviations, i), dense.Row(ofMeans, c))
			row := e.target[c]
			loss += residuals(scores, fixed, row)
			sum(sums, sums, scores)
			own := dense.Row(total, c)
			sum(own, own, scores)
		}
		for k, v := range sums {
			residual.Data[k*residual.Stride+i] = v
		}
	}
	return loss
}

// residuals replaces scores by their probabilities, next to classes with the
// log-sum-exp fixed, less 1 at row. It returns −log p of that row, or of the
// fixed classes if it is −1.
func residuals(scores []float64, fixed float64, row int) float64 {
	top, own := fixed, fixed
	for _, v := range scores {
		top = max(top, v)
	}
	if row >= 0 {
		own = scores[row]
	}
	z := math.Exp(fixed - top)
	for k, v := range scores {
		scores[k] = math.Exp(v - top)
		z += scores[k]
	}
	blas64.Scal(1/z, dense.Vector(scores))
	if row >= 0 {
		scores[row]--
	}
	return math.Log(z) + top - own
}

// sum writes a + b to dst.
func sum(dst, a, b []float64) {
	for i, v := range a {
		dst[i] = v + b[i]
	}
}
