package vargp

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/linalg"
	"github.com/seed-90d10d51/pipeline/internal/tape"
)

// Terms are what the negative bound consists of, in nats of all examples.
type Terms struct {
	// NLL is −E[log p(y|f)], scaled up from the batch.
	NLL float64 `json:"nll"`
	// Hypers is KL[q_t(θ) ‖ q_{t−1}(θ)], without β.
	Hypers float64 `json:"hypers"`
	// Inducing is the KL divergence of the inducing outputs.
	Inducing float64 `json:"inducing"`
	// Correction is E[log p(ũ) − log q(ũ)] of Global and Retrain.
	Correction float64 `json:"correction"`
}

// loss is the negative bound with β (eq. 5, 8, 16 and 19).
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
	rows        []int                // of each head among the stacked ones
}

// newProblem takes a model whose last blocks are new; old is that before.
func newProblem(m, old *Model) *problem {
	p := &problem{m: m, first: len(m.groups[0].blocks) - 1, temperature: 1, prior: hyper{old.mean, old.logVar}, rows: m.rows()}
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

// outer is l·lᵀ.
func outer(l blas64.General) blas64.General {
	s, t := linalg.New64(l.Rows, l.Rows), tape.Tape{}
	v := tape.Constant(l)
	copy(s.Data, t.Mul(v, t.Transpose(v)).Value.Data)
	return s
}

// A batch is some of the examples.
type batch struct {
	x     blas64.General
	y     []int
	scale float64 // N/|B|
}

// evaluate returns the terms of the bound on a batch, and its gradient by the
// parameters. Draw s of θ, and those of f with it, come from stream(s).
func (p *problem) evaluate(ctx context.Context, b batch, stream func(sample int) *rand.Rand) (Terms, []float64, error) {
	hypers, functions := p.m.cfg.draws()
	samples, errs := make([]sample, hypers), make([]error, hypers)
	rows, seen := p.trainedRows(), p.view(b.x)
	linalg.Parallel(hypers, func(s int) {
		if errs[s] = ctx.Err(); errs[s] == nil {
			errs[s] = p.sample(&samples[s], b, seen, rows, functions, stream(s))
		}
	})
	for _, err := range errs {
		if err != nil {
			return Terms{}, nil, err
		}
	}
	terms, mean, logVar := p.hyperTerms(samples)
	seen.back(samples)
	out := seen.appendTo(append(mean, logVar...))
	for g, group := range p.m.groups {
		for t, block := range group.blocks[p.first:] {
			sum := newGradient(block, seen.inputs[g][p.first+t].Grad())
			for _, s := range samples {
				sum.add(1/float64(hypers), s.leaves[g][p.first+t])
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

// A sample is the bound for one θ.
type sample struct {
	eps    []float64
	theta  *tape.Var
	x      *tape.Var
	leaves [][]leaf
	terms  Terms
}

// trainedRows packs the covariances of the trained blocks of each group; none
// where that is not quicker.
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

// sample fills s.
func (p *problem) sample(s *sample, b batch, seen *view, rows [][]blas64.General, functions int, rng *rand.Rand) error {
	theta := linalg.New64(1, len(p.m.mean))
	s.eps = make([]float64, len(p.m.mean))
	for i, v := range p.m.mean {
		if p.m.cfg.Variant != PointHypers {
			s.eps[i] = rng.NormFloat64()
		}
		theta.Data[i] = v + math.Exp(p.m.logVar[i]/2)*s.eps[i]
	}
	s.theta, s.x = tape.Variable(theta), again(seen.x)
	tp := p.m.tape()
	total := tape.Number(0)
	var means, variances []*tape.Var
	for g := range p.m.groups {
		leaves := p.leaves(g, seen.z[g], rows[g])
		s.leaves = append(s.leaves, leaves)
		at, err := newSite(tp, p.m.cfg, s.theta, leaves, p.whole[g])
		if err != nil {
			return err
		}
		mean, variance := at.marginals(s.x)
		means, variances = append(means, mean), append(variances, variance)
		for t := p.first; t < len(leaves); t++ {
			d := at.divergence(t)
			s.terms.Inducing += d.Number()
			total = tp.Add(total, 1, d)
		}
		if a := p.anchors[g]; a != nil {
			correction := at.correction
			if p.m.cfg.Variant == RetrainPublished {
				correction = at.published
			}
			c, err := correction(a)
			if err != nil {
				return err
			}
			s.terms.Correction += c.Number()
			total = tp.Add(total, 1, c)
		}
	}
	y := make([]int, len(b.y))
	for i, h := range b.y {
		y[i] = p.rows[h]
	}
	nll := softmaxNLL(tp, tp.Stack(means...), tp.Stack(variances...), y, functions, rng)
	s.terms.NLL = b.scale * nll.Number()
	tp.Backward(tp.Add(tp.Scale(p.temperature, total), b.scale, nll))
	return nil
}

// leaves puts the blocks of a group on a tape; z are those of a view, rows those
// of trainedRows.
func (p *problem) leaves(g int, z []*tape.Var, rows []blas64.General) []leaf {
	var out []leaf
	for t, b := range p.m.groups[g].blocks {
		if t < p.first {
			out = append(out, leaf{z: again(z[t]), mean: tape.Constant(b.mean), pack: p.packs[g][t]})
			continue
		}
		l := leaf{z: again(z[t]), mean: tape.Variable(b.mean)}
		for _, c := range b.chol {
			l.chol = append(l.chol, tape.Variable(c))
		}
		if rows[t-p.first].Data != nil {
			l.pack = &pack{tape.Variable(rows[t-p.first]), inOrder(len(b.chol))}
		}
		out = append(out, l)
	}
	return out
}

// hyperTerms returns the mean terms, and the gradient by q(θ): through the
// samples and through β·KL.
func (p *problem) hyperTerms(samples []sample) (terms Terms, mean, logVar []float64) {
	mean, logVar = make([]float64, len(p.m.mean)), make([]float64, len(p.m.mean))
	w := 1 / float64(len(samples))
	for _, s := range samples {
		terms.NLL, terms.Inducing, terms.Correction = terms.NLL+w*s.terms.NLL, terms.Inducing+w*s.terms.Inducing, terms.Correction+w*s.terms.Correction
		for i, g := range s.theta.Grad().Data {
			mean[i] += w * g
			logVar[i] += w * g * s.eps[i] * math.Exp(p.m.logVar[i]/2) / 2
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
