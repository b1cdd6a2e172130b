package vargp

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// The parameters that a task trains form one vector: means and log-variances of
// θ, then φ, then for each group and each of its trained blocks Z (M×d), m (H×M)
// and the lower triangles of chol row by row, with diagonals before softplus.

// pack writes the trained parameters of m into a vector; first is the first
// trained block.
func (m *Model) pack(first int) []float64 {
	p := append(append([]float64{}, m.mean...), m.logVar...)
	for _, part := range m.net.parts() {
		p = append(p, part...)
	}
	for _, g := range m.groups {
		for _, b := range g.blocks[first:] {
			p = append(append(p, b.z.Data...), b.mean.Data...)
			for _, l := range b.chol {
				for i := range l.Rows {
					p = append(p, dense.Row(l, i)[:i]...)
					p = append(p, inverseSoftplus(dense.Row(l, i)[i]))
				}
			}
		}
	}
	return p
}

// unpack is the inverse of pack.
func (m *Model) unpack(p []float64, first int) {
	take := func(dst []float64) { p = p[copy(dst, p):] }
	take(m.mean)
	take(m.logVar)
	for _, part := range m.net.parts() {
		take(part)
	}
	for _, g := range m.groups {
		for _, b := range g.blocks[first:] {
			take(b.z.Data)
			take(b.mean.Data)
			for _, l := range b.chol {
				for i := range l.Rows {
					r := dense.Row(l, i)
					take(r[:i+1])
					r[i] = softplus(r[i])
				}
			}
		}
	}
}

// A gradient holds the derivatives of one block as a graph computes them.
type gradient struct {
	z, mean blas64.General
	chol    []blas64.General
	rows    blas64.General // of the pack, if there is one
}

func newGradient(b block, z blas64.General) gradient {
	g := gradient{z: z, mean: dense.New(b.mean.Rows, b.mean.Cols)}
	for _, l := range b.chol {
		g.chol = append(g.chol, dense.New(l.Rows, l.Cols))
	}
	if packs(len(b.chol), b.z.Rows) {
		g.rows = dense.New(len(b.chol), b.z.Rows*(b.z.Rows+1)/2)
	}
	return g
}

func (g gradient) add(factor float64, l leaf) {
	accumulate(g.mean.Data, factor, l.mean.Grad().Data)
	for h, c := range l.chol {
		accumulate(g.chol[h].Data, factor, c.Grad().Data)
	}
	if l.pack != nil {
		accumulate(g.rows.Data, factor, l.pack.rows.Grad().Data)
	}
}

// unpack propagates the derivatives with respect to a pack to the factors.
func (g gradient) unpack(b block) {
	if g.rows.Data != nil {
		unpackGradient(g.chol, b.chol, g.rows)
	}
}

func accumulate(dst []float64, factor float64, x []float64) {
	for i, v := range x {
		dst[i] += factor * v
	}
}

// appendTo writes the derivatives in the order of pack. The derivative of
// softplus at its value v is 1 − e^{−v}.
func (g gradient) appendTo(p []float64, b block) []float64 {
	p = append(append(p, g.z.Data...), g.mean.Data...)
	for h, l := range g.chol {
		for i := range l.Rows {
			p = append(p, dense.Row(l, i)[:i]...)
			p = append(p, dense.Row(l, i)[i]*-math.Expm1(-dense.Row(b.chol[h], i)[i]))
		}
	}
	return p
}

// leastSoftplus keeps diagonals positive.
const leastSoftplus = 1e-9

func softplus(x float64) float64 {
	return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) + leastSoftplus
}

func inverseSoftplus(y float64) float64 {
	y = max(y-leastSoftplus, leastSoftplus)
	if y > 30 {
		return y
	}
	return math.Log(math.Expm1(y))
}
