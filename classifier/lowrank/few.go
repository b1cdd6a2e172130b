package lowrank

import (
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// fewRows are multiplied at a time, zeros in place of those that are missing,
// so that no row meets another kernel for being alone.
const fewRows = 16

// room is what scoring a few rows takes, used again and again.
type room struct{ z, projected, crossed blas32.General }

// room returns one for so many components of so many Gaussians, with zeros or
// anything else in it. It goes back to q.rooms.
func (q *Queries) room(components, items int) *room {
	r, _ := q.rooms.Get().(*room)
	if r == nil {
		r = &room{z: aligned(fewRows, q.z32.Cols)}
	}
	r.projected, r.crossed = resized(r.projected, components), resized(r.crossed, items)
	return r
}

// resized returns m with so many rows of fewRows, in its memory where that is
// enough.
func resized(m blas32.General, rows int) blas32.General {
	if cap(m.Data) < rows*fewRows {
		return fresh(rows, fewRows)
	}
	return blas32.General{Rows: rows, Cols: fewRows, Stride: fewRows, Data: m.Data[:rows*fewRows]}
}

// aligned returns a zero matrix all rows of which begin at multiples of 16
// bytes: see fresh.
func aligned(rows, cols int) blas32.General {
	m := fresh(rows, (cols+3)/4*4)
	m.Cols = cols
	return m
}

// fill puts rows of q into z, and zeros below them.
func (r *room) fill(q *Queries, rows []int) {
	for i, row := range rows {
		copy(dense.Row32(r.z, i), dense.Row32(q.z32, row))
	}
	clear(r.z.Data[len(rows)*r.z.Stride:])
}

// scoresOfFew multiplies the other way round, the components by a few rows: the
// components, by far the larger matrix, are then read once as they lie, where
// a right operand would be packed first. For a handful of rows that takes half
// of the time.
func (s *Stack) scoresOfFew(q *Queries, rows []int) (blas64.General, error) {
	scores := dense.New(len(rows), len(s.items))
	r := q.room(s.basis.Rows, len(s.items))
	defer q.rooms.Put(r)
	for first := 0; first < len(rows); first += fewRows {
		part := rows[first:min(first+fewRows, len(rows))]
		r.fill(q, part)
		if err := s.multiplyFew(r); err != nil {
			return scores, err
		}
		s.scoreFew(scores.Data[first*scores.Stride:], q, part, r)
	}
	return scores, nil
}

// multiplyFew writes L(z−c) of all Gaussians and (μ−c)ᵀ(z−c), a column a row of z.
func (s *Stack) multiplyFew(r *room) error {
	raw := s.mul.Raw()
	if s.basis.Rows > 0 {
		if err := raw.Mul32(r.projected, s.basis, r.z); err != nil {
			return err
		}
	}
	return raw.Mul32(r.crossed, s.means, r.z)
}

// scoreFew is scoreRow for all of the rows.
func (s *Stack) scoreFew(dst []float64, q *Queries, rows []int, r *room) {
	for i := range s.items {
		k := &s.items[i]
		uu := k.squares(r.projected.Data[k.first*fewRows:])
		for c, row := range rows {
			z := q.z.Data[row*q.z.Stride : row*q.z.Stride+q.z.Cols]
			dst[c*len(s.items)+i] = k.score(z, q.sq[row], uu[c], float64(r.crossed.Data[i*fewRows+c]))
		}
	}
}

// squares returns ‖u‖² of the rows, whose products with the components are the
// columns of projected; four columns at a time stay in registers.
func (k *stacked) squares(projected []float32) (uu [fewRows]float64) {
	for c := 0; c < fewRows; c += 4 {
		var s0, s1, s2, s3 float64
		for j, w := range k.weight {
			p, o := projected[j*fewRows+c:j*fewRows+c+4:j*fewRows+c+4], k.origin[j]
			a0, a1, a2, a3 := float64(p[0])-o, float64(p[1])-o, float64(p[2])-o, float64(p[3])-o
			s0 += w * a0 * a0
			s1 += w * a1 * a1
			s2 += w * a2 * a2
			s3 += w * a3 * a3
		}
		uu[c], uu[c+1], uu[c+2], uu[c+3] = s0, s1, s2, s3
	}
	return uu
}
