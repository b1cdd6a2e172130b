package vargp

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// A Task holds the examples and settings of one call of Learn.
type Task struct {
	// X (N×d) are examples of the heads Y.
	X blas64.General
	Y []int
	// Temperature weighs the divergence of the inducing outputs; 0 means 1. A
	// posterior colder than Bayes' moves further from the prior: 1/w gives that of
	// w copies of each example and w·β.
	Temperature float64
	// Inputs are the initial inducing inputs of this task, M×d for each group,
	// with the same M in all.
	Inputs []blas64.General
	// ValidX and ValidY are validation examples for early stopping; without them
	// all epochs are trained.
	ValidX blas64.General
	ValidY []int
	// Progress, if not nil, is called after each epoch.
	Progress func(Epoch)
	// Save, if not nil, is called with the state of training after every
	// SaveEvery epochs and after the last; an error ends the training. It must
	// not retain or change its argument. Resume, if not nil, is such a state of
	// the same task of the same model: training continues from it to the same
	// result.
	Save      func(Checkpoint) error
	SaveEvery int
	Resume    *Checkpoint
}

// An Epoch is the progress of training after an epoch.
type Epoch struct {
	// Number runs from 1 to at most Of.
	Number int `json:"number"`
	Of     int `json:"of"`
	// Terms are those of the last batch.
	Terms
	// Accuracy and LogProb (mean, in nats) are measured on the validation
	// examples; 0 without any.
	Accuracy float64 `json:"accuracy"`
	LogProb  float64 `json:"log_prob"`
}

// A Trace holds the epochs of a task and the number of the one whose parameters
// were taken.
type Trace struct {
	Epochs []Epoch `json:"epochs"`
	Kept   int     `json:"kept"`
}

// Learn trains the model on a task (Algorithm 1). On error the model is
// unchanged. For each θ and group with n inducing inputs in total and H heads, a
// step costs about 3(n²(n/3+B) + nBd + H·M·nB) multiplications with batch size B.
func (m *Model) Learn(ctx context.Context, task Task) (Trace, error) {
	if err := m.check(task); err != nil {
		return Trace{}, err
	}
	next := m.Clone()
	if err := next.extend(task.Inputs); err != nil {
		return Trace{}, err
	}
	if err := next.fits(); err != nil {
		return Trace{}, err
	}
	r := &run{problem: newProblem(next, m), task: task}
	r.temperature = cmp.Or(task.Temperature, 1)
	r.p = next.pack(r.first)
	r.opt = newYogi(next.cfg.Rate, len(r.p))
	if task.Resume != nil {
		if err := r.resume(*task.Resume); err != nil {
			return Trace{}, err
		}
	}
	trace, err := r.train(ctx)
	if err != nil {
		return trace, err
	}
	next.tasks++
	*m = *next
	return trace, nil
}

func (m *Model) check(t Task) error {
	if t.X.Rows == 0 || len(t.Y) != t.X.Rows || len(t.ValidY) != t.ValidX.Rows {
		return fmt.Errorf("%d examples with %d labels, %d with %d to validate", t.X.Rows, len(t.Y), t.ValidX.Rows,
			len(t.ValidY))
	}
	if !(t.Temperature >= 0 && t.Temperature <= maxTemperature) {
		return fmt.Errorf("temperature: %g is outside 0 … %g", t.Temperature, maxTemperature)
	}
	if len(t.Inputs) != len(m.groups) {
		return fmt.Errorf("inducing inputs for %d groups of %d", len(t.Inputs), len(m.groups))
	}
	for _, x := range append([]blas64.General{t.X, t.ValidX}, t.Inputs...) {
		if err := dense.Valid(x); err != nil {
			return err
		}
		if x.Rows > 0 && x.Cols != m.dim {
			return fmt.Errorf("inputs of %d values, the model has %d", x.Cols, m.dim)
		}
		if i := dense.NotFinite(x); i >= 0 {
			return fmt.Errorf("input %d holds a NaN or an infinity", i)
		}
	}
	for _, z := range t.Inputs {
		if z.Rows == 0 || z.Rows != t.Inputs[0].Rows {
			return fmt.Errorf("%d inducing inputs in a group, %d in the first", z.Rows, t.Inputs[0].Rows)
		}
	}
	for _, y := range [][]int{t.Y, t.ValidY} {
		for i, h := range y {
			if h < 0 || h >= len(m.home) {
				return fmt.Errorf("example %d: head %d of %d", i, h, len(m.home))
			}
		}
	}
	return nil
}

// Bounds of a task and of a model: inducing inputs of a group, and numbers in a
// predictor.
const (
	maxTemperature = 1e6

	maxInputs  = 1 << 12
	maxNumbers = 1 << 28
)

// fits returns an error if there are too many inducing inputs to factor their
// kernel for every draw.
func (m *Model) fits() error {
	n := 0
	for _, b := range m.groups[0].blocks {
		n += b.z.Rows
	}
	if n > maxInputs {
		return fmt.Errorf("%d inducing inputs in all tasks: a model takes at most %d; use fewer per task, or start a "+
			"new model", n, maxInputs)
	}
	if draws := m.cfg.PredictHypers * len(m.groups); n*n > maxNumbers/draws {
		return fmt.Errorf("%d inducing inputs in all tasks, for %d draws and sets of them: more than %d numbers; use "+
			"fewer inducing inputs or prediction draws", n, draws, maxNumbers)
	}
	return nil
}

// extend appends the block of a new task to each group, or replaces the old block
// if the variant has only one.
func (m *Model) extend(inputs []blas64.General) error {
	heads := m.headsOf()
	for g := range m.groups {
		to := &m.groups[g]
		if m.cfg.Variant == Global {
			to.blocks = nil
		}
		z := dense.Clone(inputs[g])
		to.blocks = append(to.blocks, block{z: z, mean: dense.New(heads[g], z.Rows)})
		start := dense.Identity(z.Rows)
		if m.cfg.Start == FromPrior {
			all, _ := to.all()
			all, err := m.net.apply(m.on, all)
			if err != nil {
				return err
			}
			l, err := m.factor(m.mean, placedAt(m.mean, all))
			if err != nil {
				return fmt.Errorf("kernel of the inducing inputs: %w", err)
			}
			n := l.Rows - z.Rows
			dense.Copy(start, dense.View(l, n, n, z.Rows, z.Rows))
		}
		last := &to.blocks[len(to.blocks)-1]
		for range heads[g] {
			last.chol = append(last.chol, dense.Clone(start))
		}
	}
	return nil
}

// factor returns the Cholesky factor L of the kernel of inducing inputs.
func (m *Model) factor(theta []float64, z placed) (blas64.General, error) {
	return linalg.Cholesky(m.on.Raw(), gramOf(m.graph(), variance(theta), z), m.cfg.Jitter)
}

// A run is the training of one task.
type run struct {
	*problem
	task  Task
	p     []float64 // parameters
	opt   *yogi
	step  int
	trace Trace
	best  []float64
	top   float64
}

func (r *run) train(ctx context.Context) (Trace, error) {
	over := len(r.trace.Epochs) > 0 && r.over()
	for e := len(r.trace.Epochs); e < r.epochs() && !over; e++ {
		now := Epoch{Number: e + 1, Of: r.epochs()}
		if err := r.epoch(ctx, &now); err != nil {
			return r.trace, err
		}
		if err := r.look(&now); err != nil {
			return r.trace, err
		}
		// The products of a backend may fail once ctx is cancelled; gonum's in their
		// place have other last bits, and a training that resumes would keep them.
		if err := ctx.Err(); err != nil {
			return r.trace, err
		}
		over = r.over()
		last := over || now.Number == r.epochs()
		s := r.task
		if s.Save != nil && s.SaveEvery > 0 && (last || now.Number%s.SaveEvery == 0) {
			if err := s.Save(r.checkpoint()); err != nil {
				return r.trace, err
			}
		}
	}
	if r.best == nil {
		r.best, r.trace.Kept = r.p, len(r.trace.Epochs)
	}
	r.m.unpack(r.best, r.first)
	return r.trace, ctx.Err()
}

// epoch trains on every example once.
func (r *run) epoch(ctx context.Context, now *Epoch) error {
	for _, rows := range r.batches(now.Number - 1) {
		if r.m.cfg.Steps > 0 && r.step >= r.m.cfg.Steps {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		terms, gradient, err := r.evaluate(ctx, r.pick(rows), func(s int) *rand.Rand {
			return random.Stream(r.m.cfg.Seed, "gp/vargp/step", r.m.tasks, r.step, s)
		})
		if err != nil {
			return err
		}
		r.opt.descend(r.p, gradient)
		r.m.unpack(r.p, r.first)
		now.Terms = terms
		r.step++
	}
	return nil
}

// epochs returns the largest number of epochs.
func (r *run) epochs() int {
	n, c := r.task.X.Rows, r.m.cfg
	if c.Steps == 0 {
		return c.Epochs
	}
	perEpoch := (n + c.Batch - 1) / c.Batch
	return min(c.Epochs, (c.Steps+perEpoch-1)/perEpoch)
}

// batches splits the examples, in random order, into batches of nearly equal
// size.
func (r *run) batches(epoch int) [][]int {
	n := r.task.X.Rows
	order := random.Stream(r.m.cfg.Seed, "gp/vargp/order", r.m.tasks, epoch).Perm(n)
	count := (n + r.m.cfg.Batch - 1) / r.m.cfg.Batch
	var out [][]int
	for i := range count {
		out = append(out, order[i*n/count:(i+1)*n/count])
	}
	return out
}

func (r *run) pick(rows []int) batch {
	b := batch{x: dense.Gather(r.task.X, rows), scale: float64(r.task.X.Rows) / float64(len(rows))}
	for _, k := range rows {
		b.y = append(b.y, r.task.Y[k])
	}
	return b
}

// look validates after an epoch and saves the best parameters.
func (r *run) look(now *Epoch) error {
	if len(r.task.ValidY) > 0 {
		if err := r.validate(now); err != nil {
			return err
		}
	}
	r.trace.Epochs = append(r.trace.Epochs, *now)
	c := r.m.cfg
	if len(r.task.ValidY) > 0 && c.Stopping == Best && (r.best == nil || now.LogProb > r.top+c.Tolerance) {
		r.best, r.top, r.trace.Kept = slices.Clone(r.p), now.LogProb, now.Number
	}
	if r.task.Progress != nil {
		r.task.Progress(*now)
	}
	return nil
}

// over reports whether early stopping ends training.
func (r *run) over() bool {
	if len(r.task.ValidY) == 0 {
		return false
	}
	c, n := r.m.cfg, len(r.trace.Epochs)
	if c.Stopping == AsPaper {
		return n > c.Patience &&
			math.Abs(r.trace.Epochs[n-1].Accuracy-r.trace.Epochs[n-1-c.Patience].Accuracy) < c.Tolerance
	}
	return n-r.trace.Kept >= c.Patience
}

// validate measures the validation examples with as many draws as a training
// step.
func (r *run) validate(now *Epoch) error {
	c := r.m.cfg
	hypers, _ := c.draws()
	q, err := r.m.predictor(hypers, c.FunctionSamples)
	if err != nil {
		return err
	}
	lp := dense.New(r.task.ValidX.Rows, r.m.Heads())
	if err := q.LogProb(lp, r.task.ValidX); err != nil {
		return err
	}
	for i, y := range r.task.ValidY {
		row := dense.Row(lp, i)
		now.LogProb += row[y]
		if slices.Max(row) == row[y] {
			now.Accuracy++
		}
	}
	now.LogProb /= float64(lp.Rows)
	now.Accuracy /= float64(lp.Rows)
	return nil
}
