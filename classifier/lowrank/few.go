package lowrank

import (
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

// fewRows are multiplied at a time, zeros in place of those that are missing,
// so that no row meets another kernel for being alone.
const fewRows = 16

// scoresOfFew multiplies the other way round, the components by a few rows: the
// components, by far the larger matrix, are then read once as they lie, where
// a right operand would be packed first. For a handful of rows that takes half
// of the time.
func (s *Stack) scoresOfFew(q *Queries, rows []int) (blas64.General, error) {
	d := q.z32.Cols
	z, crossed := aligned(fewRows, d), linalg.New32(len(s.items), fewRows)
	projected := linalg.New32(s.basis.Rows, fewRows)
	scores := linalg.New64(len(rows), len(s.items))
	for first := 0; first < len(rows); first += fewRows {
		part := rows[first:min(first+fewRows, len(rows))]
		for i, r := range part {
			copy(z.Data[i*z.Stride:i*z.Stride+d], q.z32.Data[r*q.z32.Stride:])
		}
		clear(z.Data[len(part)*z.Stride:])
		if err := s.multiplyFew(projected, crossed, z); err != nil {
			return scores, err
		}
		s.scoreFew(scores.Data[first*scores.Stride:], q, part, projected, crossed)
	}
	return scores, nil
}

// aligned returns a zero matrix all rows of which begin at multiples of 16
// bytes: see fresh.
func aligned(rows, cols int) blas32.General {
	m := fresh(rows, (cols+3)/4*4)
	m.Cols = cols
	return m
}

// multiplyFew writes L(z−c) of all Gaussians and (μ−c)ᵀ(z−c), a column a row of z.
func (s *Stack) multiplyFew(projected, crossed, z blas32.General) error {
	raw := s.mul.Raw()
	if projected.Rows > 0 {
		if err := raw.Mul32(projected, s.basis, z); err != nil {
			return err
		}
	}
	return raw.Mul32(crossed, s.means, z)
}

// scoreFew is scoreRow for all of the rows.
func (s *Stack) scoreFew(dst []float64, q *Queries, rows []int, projected, crossed blas32.General) {
	for i := range s.items {
		k := &s.items[i]
		var uu [fewRows]float64
		for j, w := range k.weight {
			along := (*[fewRows]float32)(projected.Data[(k.first+j)*fewRows:])
			for c, p := range along {
				a := float64(p) - k.origin[j]
				uu[c] += w * a * a
			}
		}
		for c, r := range rows {
			z := q.z.Data[r*q.z.Stride : r*q.z.Stride+q.z.Cols]
			dst[c*len(s.items)+i] = k.score(z, q.sq[r], uu[c], float64(crossed.Data[i*fewRows+c]))
		}
	}
}
