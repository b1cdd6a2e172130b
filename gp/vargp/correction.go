package vargp

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/gp/vargp/internal/autodiff"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// An anchor is the frozen posterior q(ũ) of a group's old inducing outputs, which
// Global and Retrain replace by that of the new ones.
type anchor struct {
	z       blas64.General
	sizes   []int
	inverse []blas64.General // of each head, the inverse of its block-diagonal chol, transposed
	target  []blas64.General // of each head, chol⁻¹·m, 1×ñ
	logDet  float64          // of chol, the sum over heads
}

// anchorOf freezes a group. It returns nil if the group has learned no task.
func anchorOf(g group, heads int) *anchor {
	if len(g.blocks) == 0 {
		return nil
	}
	a := &anchor{}
	a.z, a.sizes = g.all()
	for h := range heads {
		inv, target := dense.New(a.z.Rows, a.z.Rows), dense.New(1, a.z.Rows)
		at := 0
		for _, b := range g.blocks {
			n := b.z.Rows
			block := dense.View(inv, at, at, n, n)
			for i := range n {
				dense.Row(block, i)[i] = 1
				a.logDet += math.Log(dense.Row(b.chol[h], i)[i])
			}
			blas64.Trsm(blas.Left, blas.NoTrans, 1, linalg.LowerTriangle(b.chol[h]), block)
			for i := range n {
				for j, m := range dense.Row(b.mean, h) {
					target.Data[at+i] += dense.Row(block, i)[j] * m
				}
			}
			at += n
		}
		a.inverse, a.target = append(a.inverse, dense.Transposed(inv)), append(a.target, target)
	}
	return a
}

// only returns the group with head h alone.
func (s *headGroup) only(h int) *headGroup {
	one := *s
	one.mean, one.spreads, one.packs = nil, nil, make([]*pack, len(s.packs))
	for t, m := range s.mean {
		one.mean = append(one.mean, s.gr.Block(m, h, 0, 1, m.Value.Cols))
		one.spreads = append(one.spreads, s.spreads[t][h:h+1])
	}
	return &one
}

// before returns L̃ (ñ×ñ) and a = L⁻¹·k(z, z̃)·L̃⁻ᵀ (n×ñ), which plays the role of
// whitened for y = L̃⁻¹ũ instead of the functions.
func (s *headGroup) before(old *anchor) (l, a *autodiff.Var, err error) {
	gr, z := s.gr, pointsAt(s.theta, autodiff.Constant(old.z))
	l, err = gr.Cholesky(gram(gr, s.theta, z), s.cfg.Jitter)
	if err != nil {
		return nil, nil, err
	}
	return l, gr.Transpose(gr.Solve(l, gr.Transpose(s.whitened(z)))), nil
}

// correction returns E[log p(ũ|θ) − log q(ũ|θ)] under q(u)·p(ũ|u), summed over
// heads: the negated last term of eq. 16 and of eq. 19.
//
// With y = L̃⁻¹ũ and ẽ = R̃·y, log p = −½‖y‖² − log|L̃| and
// log q = −½‖chol⁻¹(ẽ − m̃)‖² − log|chol|, since the determinants of L̃ and R̃ are
// equal. Both are squares of linear maps of ũ, whose mean and covariance are
// those of the functions at z̃.
func (s *headGroup) correction(old *anchor) (*autodiff.Var, error) {
	gr, H, n := s.gr, float64(s.heads()), float64(old.z.Rows)
	l, a, err := s.before(old)
	if err != nil {
		return nil, err
	}
	r := gr.BlockDiagonal(l, old.sizes)
	mean, quad := s.moments(s.project(a))
	prior := gr.Add(gr.Add(gr.SumSquares(mean), 1, gr.Sum(quad)), -H, gr.SumSquares(a))
	sum := gr.Add(gr.Scale(-0.5, prior), -H*n/2, autodiff.Number(1))
	e := gr.Mul(a, gr.Transpose(r))
	for h, inverse := range old.inverse {
		inv := autodiff.Constant(inverse)
		ah := gr.Mul(e, inv)
		one := s.only(h)
		mean, quad := one.moments(one.project(ah))
		posterior := gr.Add(gr.SumSquares(gr.Add(mean, -1, autodiff.Constant(old.target[h]))), 1, gr.Sum(quad))
		posterior = gr.Add(posterior, -1, gr.SumSquares(ah))
		posterior = gr.Add(posterior, 1, gr.SumSquares(gr.Mul(gr.Transpose(r), inv)))
		sum = gr.Add(sum, 0.5, posterior)
	}
	sum = gr.Add(sum, -H, gr.LogDiagonal(l, 0, old.z.Rows))
	return gr.Add(sum, 1, autodiff.Number(old.logDet)), nil
}

// published is correction as the authors' program computes it: the same number,
// but their draws of ũ block the derivative. So only θ gets a derivative, through
// the densities of a fixed ũ.
func (s *headGroup) published(old *anchor) (*autodiff.Var, error) {
	gr, H, n := s.gr, s.heads(), old.z.Rows
	l, a, err := s.before(old)
	if err != nil {
		return nil, err
	}
	b := s.project(a)
	mean, _ := s.moments(b)
	y := gr.Solve(l, autodiff.Constant(l.Value)) // I in value; its derivative is that of y with ũ fixed
	e := gr.Transpose(gr.Mul(gr.BlockDiagonal(l, old.sizes), y))
	sum := gr.Scale(-float64(H), gr.LogDiagonal(l, 0, n))
	for h, inverse := range old.inverse {
		cov, mu := s.covariance(a.Value, b, h), dense.View(mean.Value, h, 0, 1, n)
		u := gr.Transpose(gr.Mul(e, autodiff.Constant(inverse)))
		off := gr.Add(gr.Mul(autodiff.Constant(mu), gr.Transpose(u)), -1, autodiff.Constant(old.target[h]))
		posterior := gr.Add(trace(gr, u, cov), 1, gr.SumSquares(off))
		prior := gr.Add(trace(gr, y, cov), 1, gr.SumSquares(gr.Mul(autodiff.Constant(mu), gr.Transpose(y))))
		sum = gr.Add(gr.Add(sum, 0.5, posterior), -0.5, prior)
	}
	return gr.Add(sum, 1, autodiff.Number(old.logDet)), nil
}

// covariance returns the covariance of L̃⁻¹ũ under q(u)·p(ũ|u) for one head, ñ×ñ:
// I − aᵀa + Σ_t b_tᵀ·S_t·b_t.
func (s *headGroup) covariance(a blas64.General, b []*autodiff.Var, head int) blas64.General {
	cov := dense.Identity(a.Cols)
	s.gr.AddProduct(cov, -1, a, blas.Trans, a, blas.NoTrans)
	for t, v := range b {
		half := s.gr.Product(s.spreads[t][head].chol.Value, blas.Trans, v.Value, blas.NoTrans)
		s.gr.AddProduct(cov, 1, half, blas.Trans, half, blas.NoTrans)
	}
	return cov
}

// trace returns tr(u·cov·uᵀ), 1×1; cov is symmetric.
func trace(gr *autodiff.Graph, u *autodiff.Var, cov blas64.General) *autodiff.Var {
	half, sum := gr.Product(u.Value, blas.NoTrans, cov, blas.NoTrans), 0.0
	for i := range half.Rows {
		for j, v := range dense.Row(u.Value, i) {
			sum += v * dense.Row(half, i)[j]
		}
	}
	return gr.Op(autodiff.Number(sum).Value, func(g blas64.General) {
		for i := range half.Rows {
			accumulate(dense.Row(u.Grad(), i), 2*g.Data[0], dense.Row(half, i))
		}
	}, u)
}
