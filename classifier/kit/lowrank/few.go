package lowrank

import (
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// fewRows is the number of rows multiplied at a time, padded with zeros, so
// that a single row is computed by the same kernel as several.
const fewRows = 16

// scratch holds reusable buffers for scoring a few rows.
type scratch struct {
	z        blas32.General // fewRows×d
	products blas32.General // rows of the stack × fewRows
	doubts   blas32.General // fewRows × Gaussians
}

// borrow returns a scratch for a stack, with arbitrary contents. The caller
// returns it to q.scratch.
func (q *Queries) borrow(s *Stack) *scratch {
	t, _ := q.scratch.Get().(*scratch)
	if t == nil {
		t = &scratch{z: fresh(fewRows, (q.z32.Cols+3)/4*4)} // every row starts at a multiple of 16 bytes: see fresh
		t.z.Cols = q.z32.Cols
	}
	t.products, t.doubts = resized(t.products, s.rows.Rows, fewRows), resized(t.doubts, fewRows, len(s.items))
	return t
}

// resized returns a matrix that reuses the memory of m if that is large enough.
func resized(m blas32.General, rows, cols int) blas32.General {
	if cap(m.Data) < rows*cols {
		return fresh(rows, cols)
	}
	return blas32.General{Rows: rows, Cols: cols, Stride: max(cols, 1), Data: m.Data[:rows*cols]}
}

// scoresOfFew multiplies the other way round, the stack by a few rows: the
// stack, by far the larger matrix, is then read once in place, whereas a right
// operand would be packed first. For a handful of rows that takes half the
// time.
func (s *Stack) scoresOfFew(q *Queries, rows []int) (blas64.General, error) {
	scores := dense.New(len(rows), len(s.items))
	t := q.borrow(s)
	defer q.scratch.Put(t)
	for first := 0; first < len(rows); first += fewRows {
		part := rows[first:min(first+fewRows, len(rows))]
		for i, row := range part {
			copy(dense.Row32(t.z, i), dense.Row32(q.z32, row))
		}
		clear(t.z.Data[len(part)*t.z.Stride:])
		components := s.rows.Rows - len(s.items)
		if err := s.multiplyFew(t, 0, components); err != nil {
			return scores, err
		}
		if err := s.multiplyFew(t, components, s.rows.Rows); err != nil {
			return scores, err
		}
		for c := range s.items {
			k := &s.items[c]
			uu, cross := k.squaresOfFew(t.products), dense.Row32(t.products, components+c)
			for i, row := range part {
				dst, doubt := &dense.Row(scores, first+i)[c], &dense.Row32(t.doubts, i)[c]
				if r, terms := k.distance(q.length[row], uu[i], float64(cross[i])); sure(r, terms) {
					*dst, *doubt = k.score(r, terms)
				} else {
					*dst, *doubt = k.exactScore(q.row(row)), 0
				}
			}
		}
		for i, row := range part {
			s.refine(dense.Row(scores, first+i), dense.Row32(t.doubts, i), q.row(row))
		}
	}
	return scores, nil
}

// multiplyFew multiplies rows first … last−1 of the stack.
func (s *Stack) multiplyFew(t *scratch, first, last int) error {
	if first == last {
		return nil
	}
	return s.mul.Raw().Mul32(dense.Rows32(t.products, first, last), dense.Rows32(s.rows, first, last), t.z)
}

// squaresOfFew returns ‖u‖² of the rows, whose products with the components are
// the columns of products; four columns at a time stay in registers.
func (k *stacked) squaresOfFew(products blas32.General) (uu [fewRows]float64) {
	components := products.Data[k.first*fewRows:]
	for c := 0; c < fewRows; c += 4 {
		var s0, s1, s2, s3 float64
		for j, w := range k.weight {
			p, o := components[j*fewRows+c:j*fewRows+c+4:j*fewRows+c+4], k.origin[j]
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
