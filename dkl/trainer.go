package dkl

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/gp/kernel"
	"github.com/seed-90d10d51/pipeline/gptree"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/internal/setting"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// The phases, as named in an Epoch.
const (
	CrossEntropy = "cross-entropy"
	Tree         = "tree"
)

// An Epoch is the result of one epoch.
type Epoch struct {
	// Epoch counts from 1.
	Epoch int    `json:"epoch"`
	Phase string `json:"phase"`
	// Rate is the learning rate.
	Rate float64 `json:"rate"`
	// Loss is the mean over the steps, in nats per example: in phase 2 summed over
	// the nodes.
	Loss float64 `json:"loss"`
	// Accuracy (0 to 1) and NLL (nats) are measured on the held-out examples; nil
	// if there are none.
	Accuracy *float64 `json:"accuracy"`
	NLL      *float64 `json:"nll"`
}

// A Trainer trains a projection, one epoch at a time. It is not safe for
// concurrent use.
type Trainer struct {
	cfg  Training // resolved
	tree gptree.Config
	data *data
	// fingerprint is the fingerprint of data.
	fingerprint string

	initial *Projection // θ before training
	one     *entropy
	two     *objective // nil in phase 1
	sgd     *SGD
	grad    []float64
	history []Epoch
	best    best

	products linalg.Backend
}

// best is the epoch of a phase with the best accuracy on held-out examples, or
// the latest epoch if nothing is held out.
type best struct {
	Epoch    int     `json:"epoch"`
	Accuracy float64 `json:"accuracy"`
	NLL      float64 `json:"nll"`
	vector   []float64
}

// NewTrainer returns a trainer for the examples of a base session. cfg determines
// the tree and the kernel; m computes large products.
func NewTrainer(t Training, cfg gptree.Config, e Examples, m linalg.Backend) (*Trainer, error) {
	t, cfg = setting.OrDefault(t, DefaultTraining()), setting.OrDefault(cfg, gptree.DefaultConfig())
	if err := t.Validate(); err != nil {
		return nil, fmt.Errorf("dkl.%w", err)
	}
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("gptree.%w", err)
	}
	d, err := newData(e, t)
	if err != nil {
		return nil, fmt.Errorf("dkl: %w", err)
	}
	head, err := New(e.X.Cols, t.head(e.X.Cols))
	if err != nil {
		return nil, fmt.Errorf("dkl: %w", err)
	}
	head.frame = d.frame
	if t.Resolved().Whiten {
		if err := head.whiten(d); err != nil {
			return nil, fmt.Errorf("dkl: %w", err)
		}
	}
	cfg.Calibrate, cfg.Seed, cfg.Inducing = false, t.Seed, t.Resolved().Inducing
	resolved := t.Resolved()
	resolved.HandOver, resolved.Keep = false, "" // do not affect training
	tr := &Trainer{cfg: resolved, tree: cfg, data: d, fingerprint: d.fingerprint(), initial: head, products: m}
	if tr.one, err = newEntropy(head, len(d.classes), m); err != nil {
		return nil, fmt.Errorf("dkl: %w", err)
	}
	return tr, tr.optimise(tr.one.vector)
}

// optimise starts optimising vector with a new optimiser.
func (t *Trainer) optimise(vector []float64) error {
	var err error
	t.sgd, err = NewSGD(t.cfg.sgd(), len(vector))
	t.grad, t.best = make([]float64, len(vector)), best{}
	return err
}

// History returns the epochs so far. The caller must not change it.
func (t *Trainer) History() []Epoch { return t.history }

// Done reports whether training is over: all epochs have run, the last Patience
// of them brought no improvement, or there is only one class.
func (t *Trainer) Done() bool {
	n := len(t.history)
	if n >= t.cfg.Epochs || len(t.data.classes) < 2 {
		return true
	}
	return t.two != nil && t.cfg.Patience > 0 && len(t.data.held) > 0 && n-t.best.Epoch >= t.cfg.Patience
}

// Epoch trains one epoch. It checks ctx before every step. After an error the
// trainer must not be used; a new one can continue from an earlier Save.
func (t *Trainer) Epoch(ctx context.Context) (Epoch, error) {
	e := Epoch{Epoch: len(t.history) + 1, Phase: CrossEntropy}
	if t.Done() {
		return e, fmt.Errorf("dkl: training is over")
	}
	if t.two == nil && len(t.history) >= t.cfg.Pretrain {
		if err := t.grow(ctx); err != nil {
			return e, fmt.Errorf("dkl: %w", err)
		}
	}
	if t.two != nil {
		e.Phase = Tree
	}
	e.Rate = t.sgd.cfg.rateAt(len(t.history))
	var err error
	if e.Loss, err = t.pass(ctx); err == nil {
		err = t.examine(&e)
	}
	if err != nil {
		return e, fmt.Errorf("dkl: epoch %d: %w", e.Epoch, err)
	}
	t.history = append(t.history, e)
	return e, nil
}

// grow starts phase 2.
func (t *Trainer) grow(ctx context.Context) error {
	z, err := t.one.head.Project(t.data.examples.X)
	if err != nil {
		return err
	}
	y := make([]string, len(t.data.train))
	for i, r := range t.data.train {
		y[i] = t.data.classes[t.data.class[r]]
	}
	start, err := t.tree.Start(ctx, dense.Gather32(z, t.data.train), y)
	if err != nil {
		return err
	}
	if t.two, err = newObjective(t.one.head, start, t.kernel(), t.data.sizes(), t.products); err != nil {
		return err
	}
	return t.optimise(t.two.vector)
}

// kernel returns the kernel of the nodes without its scales.
func (t *Trainer) kernel() kernel.Kernel {
	return kernel.Kernel{Kind: t.tree.Kernel, Normalize: t.tree.Normalize}
}

// pass runs the steps of an epoch, which are whole passes over the examples, and
// returns their mean loss.
func (t *Trainer) pass(ctx context.Context) (float64, error) {
	rng := random.Stream(t.cfg.Seed, "dkl/order", len(t.history))
	var sum float64
	steps := 0
	for steps == 0 || steps < t.cfg.Steps {
		for batch := range slices.Chunk(t.data.shuffled(rng), t.cfg.Batch) {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			loss, err := t.step(batch)
			if err != nil {
				return 0, err
			}
			sum, steps = sum+loss, steps+1
		}
	}
	return sum / float64(steps), nil
}

func (t *Trainer) step(batch []pick) (float64, error) {
	var loss float64
	var err error
	if t.two == nil {
		class := make([]int, len(batch))
		for i, p := range batch {
			class[i] = t.data.class[p.row]
		}
		loss, err = t.one.gradient(t.grad, t.data.gather(batch), class)
	} else {
		loss, err = t.bound(batch)
	}
	if err != nil {
		return 0, err
	}
	t.pullBack()
	return loss, t.sgd.Step(t.vector(), t.grad, len(t.history))
}

// bound updates the nodes on a batch and writes the gradient of their loss. All
// nodes share one kernel, which moves by the mean of their gradients, so that its
// steps are as large as those of a kernel per node.
func (t *Trainer) bound(batch []pick) (float64, error) {
	o := t.two
	slices.SortStableFunc(batch, func(a, b pick) int {
		return o.leaf[t.data.class[a.row]] - o.leaf[t.data.class[b.row]]
	})
	leaf := make([]int, len(batch))
	for i, p := range batch {
		leaf[i] = o.leaf[t.data.class[p.row]]
	}
	p, err := o.place(t.data.gather(batch), leaf)
	if err != nil {
		return 0, err
	}
	if err := o.nodes.Update(t.cfg.NaturalRate); err != nil {
		return 0, err
	}
	loss, err := o.gradient(t.grad, p)
	for i := len(t.grad) - scales; i < len(t.grad); i++ {
		t.grad[i] /= float64(o.nodes.Splits())
	}
	return loss, err
}

// pullBack adds the gradient of the anchor.
func (t *Trainer) pullBack() {
	if t.cfg.Anchor == 0 {
		return
	}
	vector := t.vector()
	for i, start := range t.initial.theta {
		t.grad[i] += t.cfg.Anchor * (vector[i] - start)
	}
}

func (t *Trainer) vector() []float64 {
	if t.two != nil {
		return t.two.vector
	}
	return t.one.vector
}

// examineRows is the number of held-out examples scored at a time.
const examineRows = 512

// examine scores the held-out examples and records the best epoch.
func (t *Trainer) examine(e *Epoch) error {
	if len(t.data.held) == 0 {
		t.best = best{Epoch: e.Epoch, vector: slices.Clone(t.vector())}
		return nil
	}
	var right, nll float64
	for rows := range slices.Chunk(t.data.held, examineRows) {
		p, err := t.logProb(t.data.gather(plain(rows)))
		if err != nil {
			return err
		}
		for i, r := range rows {
			l, class := dense.Row(p, i), t.data.class[r]
			nll -= l[class]
			if l[class] == slices.Max(l) {
				right++
			}
		}
	}
	accuracy, nll := right/float64(len(t.data.held)), nll/float64(len(t.data.held))
	e.Accuracy, e.NLL = &accuracy, &nll
	if t.best.vector == nil || accuracy > t.best.Accuracy || accuracy == t.best.Accuracy && nll < t.best.NLL {
		t.best = best{e.Epoch, accuracy, nll, slices.Clone(t.vector())}
	}
	return nil
}

func (t *Trainer) logProb(x blas64.General) (blas64.General, error) {
	if t.two != nil {
		return t.two.logProb(x)
	}
	return t.one.logProb(x)
}
