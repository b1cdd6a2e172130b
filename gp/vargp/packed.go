package vargp

import (
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/gp/vargp/internal/autodiff"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// A pack holds the S_t of many heads of a group as the rows of a matrix, U×P with
// P = M(M+1)/2: bᵀ·S·b is then the dot product of a row with the products b_i·b_j
// of all pairs i ≥ j, and all heads take one matrix product. Off-diagonal
// elements count twice. Heads that are clones of each other share a row.
type pack struct {
	rows *autodiff.Var
	row  []int // of each head
}

// packs reports whether packing is faster than one head after the other. It is
// for many heads, since the pairs take M²/2 rows that are written and read.
func packs(heads, M int) bool { return heads >= 3 && 3*heads >= M }

// packOf returns the pack of a frozen block, or nil if packing is not faster.
func packOf(b block) *pack {
	if !packs(len(b.chol), b.z.Rows) {
		return nil
	}
	row, first := distinct(b.chol)
	var some []blas64.General
	for _, h := range first {
		some = append(some, b.chol[h])
	}
	return &pack{autodiff.Constant(packed(some)), row}
}

// packed returns the rows of covariances with the given factors.
func packed(chol []blas64.General) blas64.General {
	M := chol[0].Rows
	rows := dense.New(len(chol), M*(M+1)/2)
	for h, l := range chol {
		to := dense.Row(rows, h)
		for i := range M {
			a := dense.Row(l, i)
			for j := range i + 1 {
				v := 0.0
				for k, x := range dense.Row(l, j)[:j+1] {
					v += x * a[k]
				}
				to[j] = 2 * v
			}
			to[i] /= 2
			to = to[i+1:]
		}
	}
	return rows
}

// distinct numbers the distinct matrices: it returns the number of each matrix
// and, for each number, the index of the first matrix that has it.
func distinct(m []blas64.General) (number, first []int) {
	number = make([]int, len(m))
	for h := range m {
		number[h] = slices.IndexFunc(first, func(f int) bool { return slices.Equal(m[f].Data, m[h].Data) })
		if number[h] < 0 {
			number[h] = len(first)
			first = append(first, h)
		}
	}
	return number, first
}

// quadratic returns bᵀ·S·b for each column of b (M×B) and each head: H×B.
func (p pack) quadratic(gr *autodiff.Graph, b *autodiff.Var) *autodiff.Var {
	pairs := pairsOf(b.Value)
	some := gr.Product(p.rows.Value, blas.NoTrans, pairs, blas.NoTrans)
	out := dense.New(len(p.row), b.Value.Cols)
	for h, u := range p.row {
		copy(dense.Row(out, h), dense.Row(some, u))
	}
	return gr.Op(out, func(g blas64.General) {
		sum := dense.New(p.rows.Value.Rows, g.Cols)
		for h, u := range p.row {
			accumulate(dense.Row(sum, u), 1, dense.Row(g, h))
		}
		if p.rows.Needs() {
			gr.AddProduct(p.rows.Grad(), 1, sum, blas.NoTrans, pairs, blas.Trans)
		}
		if b.Needs() {
			pullPairs(b.Grad(), b.Value, gr.Product(p.rows.Value, blas.Trans, sum, blas.NoTrans))
		}
	}, b, p.rows)
}

// pairsOf returns b_i∘b_j for the rows i ≥ j of b: P×B.
func pairsOf(b blas64.General) blas64.General {
	out := dense.New(b.Rows*(b.Rows+1)/2, b.Cols)
	at := 0
	for i := range b.Rows {
		bi := dense.Row(b, i)
		for j := range i + 1 {
			to, bj := dense.Row(out, at)[:len(bi)], dense.Row(b, j)[:len(bi)]
			for c, v := range bi {
				to[c] = v * bj[c]
			}
			at++
		}
	}
	return out
}

// pullPairs adds the derivative with respect to b, given that with respect to its
// pairs.
func pullPairs(dst, b, pairs blas64.General) {
	at := 0
	for i := range b.Rows {
		bi, di := dense.Row(b, i), dense.Row(dst, i)
		for j := range i + 1 {
			g, bj, dj := dense.Row(pairs, at)[:len(bi)], dense.Row(b, j)[:len(bi)], dense.Row(dst, j)[:len(bi)]
			di := di[:len(bi)]
			for c, v := range bi {
				w := g[c]
				di[c] += w * bj[c]
				dj[c] += w * v
			}
			at++
		}
	}
}

// rowwise writes bᵀ·S·b for each row of b and each head into dst. Each row is
// independent of the others.
func (p pack) rowwise(on linalg.Backend, dst, b blas64.General) error {
	pairs, some := dense.New(b.Rows, p.rows.Value.Cols), dense.New(b.Rows, p.rows.Value.Rows)
	for r := range b.Rows {
		v, to := dense.Row(b, r), dense.Row(pairs, r)
		for i, x := range v {
			for j, y := range v[:i+1] {
				to[j] = x * y
			}
			to = to[i+1:]
		}
	}
	if err := on.MulTrans64(some, pairs, p.rows.Value); err != nil {
		return err
	}
	for r := range b.Rows {
		from, to := dense.Row(some, r), dense.Row(dst, r)
		for h, u := range p.row {
			to[h] = from[u]
		}
	}
	return nil
}

// unpackGradient adds the derivatives with respect to the factors, given those
// with respect to their rows: 2·Γ·L, where Γ is the row as a symmetric matrix.
func unpackGradient(dst, chol []blas64.General, rows blas64.General) {
	M := chol[0].Rows
	gamma := dense.New(M, M)
	for h, l := range chol {
		from := dense.Row(rows, h)
		for i := range M {
			for j, v := range from[:i+1] {
				gamma.Data[i*M+j], gamma.Data[j*M+i] = v, v
			}
			from = from[i+1:]
		}
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 2, gamma, l, 1, dst[h])
	}
}
