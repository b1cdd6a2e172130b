package vargp

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/gp/vargp/internal/autodiff"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// A headGroup is a set of heads with the same inducing inputs in a graph, for one
// θ.
//
// With e_t = u_t − A_t·u_<t, which are independent N(m_t, S_t) under q, and
// K = L·Lᵀ, u = L·R⁻¹·e, where R is the block diagonal of L, because
// L_tt⁻¹(u_t − A_t·u_<t) is block t of L⁻¹u. That is eq. 22. Without
// auto-regression e = u and R = L.
type headGroup struct {
	gr       *autodiff.Graph
	cfg      Config
	theta    *autodiff.Var
	z        points
	l        *autodiff.Var
	sizes    []int
	at       []int
	diagonal []*autodiff.Var // L_tt
	mean     []*autodiff.Var // H×M
	spreads  [][]spread      // of each block and head
	packs    []*pack         // of each block, nil if heads are computed one by one
}

// leaf holds the parameters of a block in a graph.
type leaf struct {
	z, mean *autodiff.Var   // z is the input of the kernel
	chol    []*autodiff.Var // nil if frozen
	pack    *pack           // nil if heads are computed one by one
}

func (l leaf) spreads(whole []blas64.General) []spread {
	if l.chol == nil {
		out := make([]spread, len(whole))
		for h, s := range whole {
			out[h].whole = s
		}
		return out
	}
	out := make([]spread, len(l.chol))
	for h, c := range l.chol {
		out[h].chol = c
	}
	return out
}

// newHeadGroup factors K of all inducing inputs.
func newHeadGroup(gr *autodiff.Graph, cfg Config, theta *autodiff.Var, leaves []leaf,
	whole [][]blas64.General) (*headGroup, error) {
	s := &headGroup{gr: gr, cfg: cfg, theta: theta}
	var zs []*autodiff.Var
	n := 0
	for t, l := range leaves {
		zs = append(zs, l.z)
		s.at, s.sizes = append(s.at, n), append(s.sizes, l.z.Value.Rows)
		n += l.z.Value.Rows
		s.mean, s.spreads, s.packs = append(s.mean, l.mean), append(s.spreads, l.spreads(whole[t])),
			append(s.packs, l.pack)
	}
	s.z = pointsAt(theta, gr.Stack(zs...))
	var err error
	if s.l, err = gr.Cholesky(gram(gr, theta, s.z), cfg.Jitter); err != nil {
		return nil, fmt.Errorf("kernel of the inducing inputs: %w", err)
	}
	for t, n := range s.sizes {
		s.diagonal = append(s.diagonal, gr.Block(s.l, s.at[t], s.at[t], n, n))
	}
	return s, nil
}

// heads returns H.
func (s *headGroup) heads() int { return s.mean[0].Value.Rows }

// whitened returns a = L⁻¹·k(z, x), n×B.
func (s *headGroup) whitened(x points) *autodiff.Var {
	return s.gr.Solve(s.l, cross(s.gr, s.theta, s.z, x))
}

// project returns R⁻ᵀ·a, block by block.
func (s *headGroup) project(a *autodiff.Var) []*autodiff.Var {
	out := make([]*autodiff.Var, len(s.sizes))
	whole := a
	if !s.cfg.autoRegressive() {
		whole = s.gr.SolveTrans(s.l, a)
	}
	for t, n := range s.sizes {
		out[t] = s.gr.Block(whole, s.at[t], 0, n, a.Value.Cols)
		if s.cfg.autoRegressive() {
			out[t] = s.gr.SolveTrans(s.diagonal[t], out[t])
		}
	}
	return out
}

// moments returns the mean and variance of Σ b·e for the columns of b = R⁻ᵀ·a:
// mᵀb and bᵀSb, both H×B, summed over the blocks in b.
func (s *headGroup) moments(b []*autodiff.Var) (mean, quad *autodiff.Var) {
	for t, v := range b {
		if v == nil {
			continue
		}
		m, q := s.gr.Mul(s.mean[t], v), s.quadratic(t, v)
		if mean == nil {
			mean, quad = m, q
			continue
		}
		mean, quad = s.gr.Add(mean, 1, m), s.gr.Add(quad, 1, q)
	}
	return mean, quad
}

// quadratic returns bᵀ·S_t·b for each column of b and each head: H×B.
func (s *headGroup) quadratic(t int, b *autodiff.Var) *autodiff.Var {
	if p := s.packs[t]; p != nil {
		return p.quadratic(s.gr, b)
	}
	return quadratic(s.gr, b, s.spreads[t])
}

// marginals returns means and variances of the functions at x: H×B.
func (s *headGroup) marginals(x points) (mean, variance *autodiff.Var) {
	a := s.whitened(x)
	mean, quad := s.moments(s.project(a))
	return mean, marginal(s.gr, s.theta, a, quad)
}

// unit returns the columns of I that belong to block t.
func (s *headGroup) unit(t int) blas64.General {
	e := dense.New(s.l.Value.Rows, s.sizes[t])
	for i := range s.sizes[t] {
		e.Data[(s.at[t]+i)*e.Stride+i] = 1
	}
	return e
}

// innovation returns Pᵀ, block by block, where P·e is the whitened difference
// between u_t and its prior mean A_t·u_<t as the divergence has it.
func (s *headGroup) innovation(t int) []*autodiff.Var {
	if !s.cfg.autoRegressive() {
		return s.project(autodiff.Constant(s.unit(t)))
	}
	gr, b := s.gr, make([]*autodiff.Var, len(s.sizes))
	b[t] = gr.SolveTrans(s.diagonal[t], autodiff.Constant(dense.Identity(s.sizes[t])))
	if s.cfg.Variant != BlockDiagonalPublished {
		return b
	}
	// u_t is e_t here, so A_t·u_<t remains: L_tt⁻¹·A_t·u_<t = Σ_s L_tt⁻¹·L_ts·L_ss⁻¹·e_s
	for r := range t {
		lts := gr.Block(s.l, s.at[t], s.at[r], s.sizes[t], s.sizes[r])
		b[r] = gr.SolveTrans(s.diagonal[r], gr.Scale(-1, gr.Mul(gr.Transpose(lts), b[t])))
	}
	return b
}

// divergence returns E[KL(q(u_t|u_<t) ‖ p(u_t|u_<t))] of block t, summed over
// heads (the last term of eq. 5 and of eq. 8):
//
//	½(‖P·chol‖² + ‖P·m‖² − M) + log|L_tt| − log|chol_t|,   P = block t of R⁻¹,
//
// where L_tt·L_ttᵀ is the covariance of p. With auto-regression P is L_tt⁻¹.
func (s *headGroup) divergence(t int) *autodiff.Var {
	gr, n := s.gr, s.sizes[t]
	mean, quad := s.moments(s.innovation(t))
	sum := gr.Scale(0.5, gr.Add(gr.SumSquares(mean), 1, gr.Sum(quad)))
	H := float64(s.heads())
	sum = gr.Add(sum, H, gr.LogDiagonal(s.diagonal[t], 0, n))
	for _, h := range s.spreads[t] {
		sum = gr.Add(sum, -1, gr.LogDiagonal(h.chol, 0, n))
	}
	return gr.Add(sum, -H*float64(n)/2, autodiff.Number(1))
}
