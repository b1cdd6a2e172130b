package network

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/random"
)

// A Method names how old tasks are kept.
type Method string

// The methods.
const (
	VCL        Method = "vcl"
	VCLCoreset Method = "vcl-coreset"
	EWC        Method = "ewc"
	SI         Method = "si"
)

// Methods returns all methods.
func Methods() []Method { return []Method{VCL, VCLCoreset, EWC, SI} }

// Config holds the settings of a learner.
type Config struct {
	Method Method
	// Hidden are the widths of the hidden layers.
	Hidden []int
	Epochs int
	Batch  int
	Rate   float64
	// Coreset is the number of examples that VCLCoreset keeps of each task.
	Coreset int
	// Strength is λ of EWC or c of SI.
	Strength float64
	Seed     uint64
}

// A Learner learns task by task.
type Learner struct {
	cfg  Config
	net  *Network
	kept part // the coreset
	// VCL: the posterior before the task, which is its prior.
	prior *Network
	// EWC and SI: Σ F and Σ F·w* over the old tasks, so that the penalty's derivative is
	// strength·(hold·w − pull).
	hold, pull []float64
	tasks      int
}

type part struct {
	x blas64.General
	y []int
}

func (p *part) add(x blas64.General, y []int) {
	p.x.Cols, p.x.Stride = x.Cols, x.Cols
	for i := range x.Rows {
		p.x.Data = append(p.x.Data, dense.Row(x, i)...)
	}
	p.x.Rows += x.Rows
	p.y = append(p.y, y...)
}

// NewLearner returns a learner that has learned nothing.
func NewLearner(cfg Config, dim, classes int) *Learner {
	rng := random.Stream(cfg.Seed, "experiment/vargp/network")
	l := &Learner{cfg: cfg}
	l.net = New(slices.Concat([]int{dim}, cfg.Hidden, []int{classes}), l.drawn(), rng)
	if l.drawn() {
		l.prior = l.net.Clone() // of which only the sizes count: the first prior is N(0, I)
		clear(l.prior.Mean)
		clear(l.prior.LogVar)
	}
	l.hold, l.pull = make([]float64, len(l.net.Mean)), make([]float64, len(l.net.Mean))
	return l
}

func (l *Learner) drawn() bool { return l.cfg.Method == VCL || l.cfg.Method == VCLCoreset }

// Learn learns a task and returns the network that answers afterwards.
func (l *Learner) Learn(ctx context.Context, x blas64.General, y []int) (*Network, error) {
	if l.cfg.Method == VCLCoreset {
		x, y = l.keep(x, y)
	}
	before := l.net.Clone()
	path := make([]float64, len(l.net.Mean)) // of SI
	if err := l.fit(ctx, l.net, l.prior, part{x, y}, path); err != nil {
		return nil, fmt.Errorf("task %d: %w", l.tasks+1, err)
	}
	l.tasks++
	switch l.cfg.Method {
	case EWC:
		information := make([]float64, len(l.net.Mean))
		l.net.fisher(information, x, random.Stream(l.cfg.Seed, "experiment/vargp/fisher", l.tasks))
		for k, f := range information {
			l.remember(k, f/float64(x.Rows))
		}
	case SI:
		for k, w := range path {
			moved := l.net.Mean[k] - before.Mean[k]
			l.hold[k] += max(w, 0) / (moved*moved + damping)
			l.pull[k] = l.hold[k] * l.net.Mean[k] // SI holds at the last weights, not at those of each task
		}
	case VCL:
		l.prior = l.net.Clone()
	case VCLCoreset:
		l.prior = l.net.Clone()
		answer := l.net.Clone()
		return answer, l.fit(ctx, answer, l.prior, l.kept, nil)
	}
	return l.net.Clone(), nil
}

// damping is ξ of Zenke et al.
const damping = 0.1

// remember adds a weight's importance at its present value.
func (l *Learner) remember(k int, f float64) {
	l.hold[k] += f
	l.pull[k] += f * l.net.Mean[k]
}

// keep moves a coreset out of the examples: the k-centre points, each farthest from
// those before it.
func (l *Learner) keep(x blas64.General, y []int) (blas64.General, []int) {
	chosen := centres(x, min(l.cfg.Coreset, x.Rows-1), random.Stream(l.cfg.Seed, "experiment/vargp/coreset", l.tasks))
	var rest, kept []int
	for i := range x.Rows {
		if slices.Contains(chosen, i) {
			kept = append(kept, i)
		} else {
			rest = append(rest, i)
		}
	}
	pick := func(rows []int) []int {
		out := make([]int, len(rows))
		for i, r := range rows {
			out[i] = y[r]
		}
		return out
	}
	l.kept.add(dense.Gather(x, kept), pick(kept))
	return dense.Gather(x, rest), pick(rest)
}

// centres returns k rows: a random one, and then always the one farthest from all.
func centres(x blas64.General, k int, rng *rand.Rand) []int {
	distance := slices.Repeat([]float64{math.Inf(1)}, x.Rows)
	var out []int
	for next := rng.IntN(x.Rows); len(out) < k; next = floats.MaxIdx(distance) {
		out = append(out, next)
		dense.Parallel(x.Rows, func(i int) {
			distance[i] = min(distance[i], dense.SquaredDistance(dense.Row(x, i), dense.Row(x, next)))
		})
	}
	return out
}

// fit trains a network on examples. A prior, if there is one, weighs 1/N. path, if not
// nil, gets the part of each weight in the fall of the loss.
func (l *Learner) fit(ctx context.Context, n, prior *Network, p part, path []float64) error {
	mean, logVar := newAdam(l.cfg.Rate, len(n.Mean)), newAdam(l.cfg.Rate, len(n.LogVar))
	rng := random.Stream(l.cfg.Seed, "experiment/vargp/training", l.tasks)
	for range l.cfg.Epochs {
		order := rng.Perm(p.x.Rows)
		for rows := range slices.Chunk(order, l.cfg.Batch) {
			if err := ctx.Err(); err != nil {
				return err
			}
			y := make([]int, len(rows))
			for i, r := range rows {
				y[i] = p.y[r]
			}
			loss, g := n.loss(dense.Gather(p.x, rows), y, rng)
			if loss-loss != 0 {
				return fmt.Errorf("training diverged: lower the rate, now %g", l.cfg.Rate)
			}
			free := slices.Clone(g.mean)
			l.restrain(n, prior, g, float64(p.x.Rows))
			was := slices.Clone(n.Mean)
			mean.descend(n.Mean, g.mean)
			logVar.descend(n.LogVar, g.logVar)
			for k := range path {
				path[k] -= free[k] * (n.Mean[k] - was[k])
			}
		}
	}
	return nil
}

// loss returns the mean of −log p(y|x) and its derivatives.
func (n *Network) loss(x blas64.General, y []int, rng *rand.Rand) (float64, gradient) {
	p := n.forward(x, rng)
	d, sum := p.logits, 0.0
	for i, c := range y {
		row := dense.Row(d, i)
		at := row[c]
		sum += softmax(row) - at
		row[c]--
		floats.Scale(1/float64(len(y)), row)
	}
	return sum / float64(len(y)), n.backward(p, d)
}

// restrain adds the derivatives of what keeps old tasks: KL[q ‖ prior]/N of VCL, or the
// penalty of EWC and SI.
func (l *Learner) restrain(n, prior *Network, g gradient, examples float64) {
	if prior != nil {
		for k, m := range n.Mean {
			precision := math.Exp(-prior.LogVar[k])
			g.mean[k] += (m - prior.Mean[k]) * precision / examples
			g.logVar[k] += (math.Exp(n.LogVar[k])*precision - 1) / (2 * examples)
		}
		return
	}
	strength := l.cfg.Strength
	if l.cfg.Method == SI {
		strength *= 2
	}
	for k, w := range n.Mean {
		g.mean[k] += strength * (l.hold[k]*w - l.pull[k])
	}
}

// adam is the optimiser of Kingma and Ba 2015 with its usual settings.
type adam struct {
	rate float64
	m, v []float64
	step int
}

func newAdam(rate float64, n int) *adam {
	return &adam{rate: rate, m: make([]float64, n), v: make([]float64, n)}
}

func (a *adam) descend(w, g []float64) {
	a.step++
	const first, second = 0.9, 0.999
	c1, c2 := 1-math.Pow(first, float64(a.step)), 1-math.Pow(second, float64(a.step))
	for k, d := range g {
		a.m[k] = first*a.m[k] + (1-first)*d
		a.v[k] = second*a.v[k] + (1-second)*d*d
		w[k] -= a.rate * a.m[k] / c1 / (math.Sqrt(a.v[k]/c2) + 1e-8)
	}
}
