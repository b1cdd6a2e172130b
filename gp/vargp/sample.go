package vargp

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/gp/vargp/internal/autodiff"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// A sample is the bound for one θ.
type sample struct {
	eps    []float64 // standard normal draws behind θ
	rng    *rand.Rand
	shares []share // of each group
	nll    float64
}

// A share is a group's part of a sample, in its own graph: shares are computed in
// parallel and combined only in the likelihood.
type share struct {
	gr             *autodiff.Graph
	theta          *autodiff.Var
	x              points
	leaves         []leaf
	mean, variance *autodiff.Var // H×B
	divergence     *autodiff.Var // and the correction, if any
	inducing       float64
	correction     float64
}

// draw draws θ.
func (p *problem) draw(seen *view, rng *rand.Rand) sample {
	theta := dense.New(1, len(p.m.mean))
	s := sample{eps: make([]float64, len(p.m.mean)), rng: rng, shares: make([]share, len(p.m.groups))}
	for i, v := range p.m.mean {
		if p.m.cfg.Variant != PointHypers {
			s.eps[i] = rng.NormFloat64()
		}
		theta.Data[i] = v + math.Exp(p.m.logVar[i]/2)*s.eps[i]
	}
	at := placedAt(theta.Data, seen.x.Value)
	for g := range s.shares {
		s.shares[g] = share{gr: p.m.graph(), theta: autodiff.Variable(theta), x: points{again(seen.x), at}}
	}
	return s
}

// fill computes the share of group g, whose leaves are set.
func (p *problem) fill(s *share, g int) error {
	at, err := newHeadGroup(s.gr, p.m.cfg, s.theta, s.leaves, p.whole[g])
	if err != nil {
		return err
	}
	s.mean, s.variance = at.marginals(s.x)
	s.divergence = autodiff.Number(0)
	for t := p.first; t < len(s.leaves); t++ {
		s.divergence = s.gr.Add(s.divergence, 1, at.divergence(t))
	}
	s.inducing = s.divergence.Number()
	a := p.anchors[g]
	if a == nil {
		return nil
	}
	correction := at.correction
	if p.m.cfg.Variant == RetrainPublished {
		correction = at.published
	}
	c, err := correction(a)
	if err != nil {
		return err
	}
	s.correction = c.Number()
	s.divergence = s.gr.Add(s.divergence, 1, c)
	return nil
}

// meet computes the likelihood of labels y, which are rows of the stacked heads,
// and adds its derivatives to the shares.
func (s *sample) meet(y []int, scale float64, functions int) {
	var means, variances []*autodiff.Var
	for _, share := range s.shares {
		means, variances = append(means, autodiff.Variable(share.mean.Value)),
			append(variances, autodiff.Variable(share.variance.Value))
	}
	gr := &autodiff.Graph{}
	nll := gr.Scale(scale, softmaxNLL(gr, gr.Stack(means...), gr.Stack(variances...), y, functions, s.rng))
	s.nll = nll.Number()
	gr.Backward(nll)
	for g, share := range s.shares {
		accumulate(share.mean.Grad().Data, 1, means[g].Grad().Data)
		accumulate(share.variance.Grad().Data, 1, variances[g].Grad().Data)
	}
}

// leaves puts the blocks of a group into a graph; z comes from a view, rows from
// trainedRows.
func (p *problem) leaves(g int, z []*autodiff.Var, rows []blas64.General) []leaf {
	var out []leaf
	for t, b := range p.m.groups[g].blocks {
		if t < p.first {
			out = append(out, leaf{z: again(z[t]), mean: autodiff.Constant(b.mean), pack: p.packs[g][t]})
			continue
		}
		l := leaf{z: again(z[t]), mean: autodiff.Variable(b.mean)}
		for _, c := range b.chol {
			l.chol = append(l.chol, autodiff.Variable(c))
		}
		if rows[t-p.first].Data != nil {
			l.pack = &pack{autodiff.Variable(rows[t-p.first]), dense.Range(0, len(b.chol))}
		}
		out = append(out, l)
	}
	return out
}
