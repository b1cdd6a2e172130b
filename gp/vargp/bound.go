package vargp

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// Terms are the terms of the negative bound, in nats over all examples.
type Terms struct {
	// NLL is −E[log p(y|f)], scaled up from the batch.
	NLL float64 `json:"nll"`
	// Hypers is KL[q_t(θ) ‖ q_{t−1}(θ)], without β.
	Hypers float64 `json:"hypers"`
	// Inducing is the KL divergence of the inducing outputs.
	Inducing float64 `json:"inducing"`
	// Correction is E[log p(ũ) − log q(ũ)], for Global and Retrain.
	Correction float64 `json:"correction"`
}

// loss returns the negative bound with β (eq. 5, 8, 16 and 19).
func (t Terms) loss(beta float64) float64 { return t.NLL + beta*t.Hypers + t.Inducing + t.Correction }

// A problem is the bound of one task as a function of its parameters.
type problem struct {
	m           *Model  // holds the parameters
	first       int     // trained blocks
	temperature float64 // weight of the divergence of inducing outputs
	prior       hyper
	anchors     []*anchor            // of each group; nil without
	whole       [][][]blas64.General // S_t of frozen blocks, by group, block and head
	packs       [][]*pack            // the same in groups of many heads, by group and block
	rows        []int                // of each head in the stacked heads
}

// newProblem returns the problem of a model whose last blocks are new; old is the
// model before the task.
func newProblem(m, old *Model) *problem {
	p := &problem{m: m, first: len(m.groups[0].blocks) - 1, temperature: 1, prior: hyper{old.mean, old.logVar},
		rows: m.rows()}
	if old.tasks == 0 {
		p.prior = hyper{make([]float64, len(m.mean)), make([]float64, len(m.mean))}
	}
	if m.cfg.retrains() {
		p.first = 0
	}
	heads := m.headsOf()
	p.packs = make([][]*pack, len(m.groups))
	for g := range m.groups {
		var a *anchor
		if m.cfg.remembers() {
			a = anchorOf(old.groups[g], heads[g])
		}
		p.anchors = append(p.anchors, a)
		whole := make([][]blas64.General, len(m.groups[g].blocks))
		for t, b := range m.groups[g].blocks[:p.first] {
			for _, l := range b.chol {
				whole[t] = append(whole[t], outer(l))
			}
			p.packs[g] = append(p.packs[g], packOf(b))
		}
		p.whole = append(p.whole, whole)
	}
	return p
}

// outer returns l·lᵀ.
func outer(l blas64.General) blas64.General {
	s := dense.New(l.Rows, l.Rows)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, l, dense.Transposed(l), 0, s)
	return s
}

// A batch is a subset of the examples.
type batch struct {
	x     blas64.General
	y     []int
	scale float64 // N/|B|
}

// evaluate returns the terms of the bound on a batch and the gradient with
// respect to the parameters. Draw s of θ, and the draws of f with it, come from
// stream(s).
func (p *problem) evaluate(ctx context.Context, b batch, stream func(sample int) *rand.Rand) (Terms, []float64, error) {
	hypers, functions := p.m.cfg.draws()
	rows, seen := p.trainedRows(), p.view(b.x)
	samples := make([]sample, hypers)
	dense.Parallel(hypers, func(s int) { samples[s] = p.draw(seen, stream(s)) })
	if err := p.forward(ctx, samples, seen, rows); err != nil {
		return Terms{}, nil, err
	}
	y := make([]int, len(b.y))
	for i, h := range b.y {
		y[i] = p.rows[h]
	}
	dense.Parallel(hypers, func(s int) { samples[s].meet(y, b.scale, functions) })
	err := p.eachShare(samples, func(s *share, _ int) error {
		s.gr.Backward(s.gr.Scale(p.temperature, s.divergence))
		return nil
	})
	if err != nil {
		return Terms{}, nil, err
	}

	terms, mean, logVar := p.hyperTerms(samples)
	seen.back(samples)
	out := seen.appendTo(append(mean, logVar...))
	for g, group := range p.m.groups {
		for t, block := range group.blocks[p.first:] {
			sum := newGradient(block, seen.inputs[g][p.first+t].Grad())
			for _, s := range samples {
				sum.add(1/float64(hypers), s.shares[g].leaves[p.first+t])
			}
			sum.unpack(block)
			out = sum.appendTo(out, block)
		}
	}
	if l := terms.loss(1); l-l != 0 {
		return terms, out, fmt.Errorf("training diverged: the bound is %g; lower the rate", l)
	}
	return terms, out, nil
}

// forward computes all shares.
func (p *problem) forward(ctx context.Context, samples []sample, seen *view, rows [][]blas64.General) error {
	return p.eachShare(samples, func(s *share, g int) error {
		if g == 0 && ctx.Err() != nil { // once for each θ
			return ctx.Err()
		}
		s.leaves = p.leaves(g, seen.z[g], rows[g])
		return p.fill(s, g)
	})
}

// eachShare calls do for the shares of all samples and their groups, on all
// cores.
func (p *problem) eachShare(samples []sample, do func(s *share, group int) error) error {
	groups := len(p.m.groups)
	return dense.ParallelErr(len(samples)*groups,
		func(i int) error { return do(&samples[i/groups].shares[i%groups], i%groups) })
}

// trainedRows packs the covariances of the trained blocks of each group, except
// where that is not faster.
func (p *problem) trainedRows() [][]blas64.General {
	out := make([][]blas64.General, len(p.m.groups))
	for g, group := range p.m.groups {
		for _, b := range group.blocks[p.first:] {
			var rows blas64.General
			if packs(len(b.chol), b.z.Rows) {
				rows = packed(b.chol)
			}
			out[g] = append(out[g], rows)
		}
	}
	return out
}

// hyperTerms returns the mean terms and the gradient with respect to q(θ),
// through the samples and through β·KL.
func (p *problem) hyperTerms(samples []sample) (terms Terms, mean, logVar []float64) {
	mean, logVar = make([]float64, len(p.m.mean)), make([]float64, len(p.m.mean))
	w := 1 / float64(len(samples))
	for _, s := range samples {
		terms.NLL += w * s.nll
		for _, share := range s.shares {
			terms.Inducing, terms.Correction = terms.Inducing+w*share.inducing, terms.Correction+w*share.correction
			for i, g := range share.theta.Grad().Data {
				mean[i] += w * g
				logVar[i] += w * g * s.eps[i] * math.Exp(p.m.logVar[i]/2) / 2
			}
		}
	}
	if p.m.cfg.Variant == PointHypers {
		return terms, mean, logVar
	}
	for i, mu := range p.m.mean {
		d, ratio := mu-p.prior.mean[i], math.Exp(p.m.logVar[i]-p.prior.logVar[i])
		inv := math.Exp(-p.prior.logVar[i])
		terms.Hypers += (ratio + d*d*inv - 1 - p.m.logVar[i] + p.prior.logVar[i]) / 2
		mean[i] += p.m.cfg.Beta * d * inv
		logVar[i] += p.m.cfg.Beta * (ratio - 1) / 2
	}
	return terms, mean, logVar
}
