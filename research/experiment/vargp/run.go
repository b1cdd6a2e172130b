package vargp

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/stat"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/checkpoint"
	"github.com/seed-90d10d51/pipeline/gp/vargp"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/experiment/vargp/internal/network"
	"github.com/seed-90d10d51/pipeline/research/grid"
)

type step struct {
	// Model is the model, Heads the head of each class, −1 for classes not yet
	// seen.
	Model vargp.Snapshot `json:"model"`
	Heads []int          `json:"heads"`
	// Network is the model of a variant that is a neural network, where it is drawn.
	Network *network.Network `json:"network,omitempty"`
	// Accuracy and Entropy are those on the test examples of each task.
	Accuracy []float64 `json:"accuracy"`
	Entropy  []float64 `json:"entropy"`
	// Epochs is the number of epochs, Kept the one whose parameters were kept.
	Epochs int `json:"epochs"`
	Kept   int `json:"kept"`
}

type runner struct {
	Config
	env experiment.Env
	src source
	// prefix precedes the names of the parts.
	prefix string
	// strength is that of the penalty of each variant that is a neural network.
	strength map[vargp.Variant]float64
}

// Run searches for hyper-parameters, if wanted, and then runs everything, with as
// many runs at a time as there are cores.
func (c Config) Run(ctx context.Context, env experiment.Env) (experiment.Outcome, error) {
	src, err := c.source(env)
	if err != nil {
		return experiment.Outcome{}, err
	}
	r := runner{Config: c, env: env, src: src}
	trials, err := r.search(ctx)
	if err != nil {
		return experiment.Outcome{}, err
	}
	if err := r.choose(ctx); err != nil {
		return experiment.Outcome{}, err
	}
	plans := r.plans()
	runs := make([][]step, len(plans)*c.Seeds)
	err = parallel(ctx, len(runs), func(ctx context.Context, i int) (err error) {
		runs[i], err = r.follow(ctx, plans[i/c.Seeds], i%c.Seeds)
		return err
	})
	if err != nil {
		return experiment.Outcome{}, err
	}
	var cells grid.Grid
	for i, steps := range runs {
		cells.Join(plans[i/c.Seeds].cells(steps))
	}
	o := r.outcome(cells, trials)
	return o, r.addPictures(&o, runs)
}

// parallel calls do for 0 … n−1. The first error stops the others and is returned.
func parallel(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	err := dense.ParallelErr(n, func(i int) error {
		err := do(ctx, i)
		if err != nil {
			cancel(err)
		}
		return err
	})
	if err != nil {
		return context.Cause(ctx)
	}
	return nil
}

type plan struct {
	variant  vargp.Variant
	inducing int
}

// plans returns the variants, then the further numbers of inducing inputs of the first.
func (c Config) plans() []plan {
	var plans []plan
	for _, v := range c.Variants {
		plans = append(plans, plan{v, c.Inducing})
	}
	for _, m := range c.Sweep {
		if m != c.Inducing {
			plans = append(plans, plan{c.Variants[0], m})
		}
	}
	return plans
}

func (p plan) place() grid.Place { return grid.At("variant", p.variant, "M", p.inducing) }

// cells returns the fractions that a run reached after each task: on the tasks so far, on
// all, and on each.
func (p plan) cells(steps []step) grid.Grid {
	var cells grid.Grid
	for task, s := range steps {
		at := p.place().And("task", task+1)
		cells.Add(at, grid.Values{
			"accuracy_so_far": stat.Mean(s.Accuracy[:task+1], nil), "entropy_of_all": stat.Mean(s.Entropy, nil),
			"epochs": float64(s.Epochs),
		})
		for tested := range steps {
			cells.Add(at.And("tested", tested+1),
				grid.Values{"accuracy": s.Accuracy[tested], "entropy": s.Entropy[tested]})
		}
	}
	return cells
}

// follow takes a variant through the tasks of a run. Each task is a part.
func (r runner) follow(ctx context.Context, p plan, run int) ([]step, error) {
	if isNetwork(p.variant) {
		return r.learnNetwork(ctx, p.variant, run)
	}
	same := r.Config
	same.Variants = nil // other variants do not change this one
	var steps []step
	var before step
	for task := range r.Tasks {
		name := fmt.Sprintf("%s%s_m%d_run%d_task%d", r.prefix, p.variant, p.inducing, run+1, task+1)
		of := []any{r.src.of, same, p.variant, p.inducing, run, task}
		now, err := experiment.Part(ctx, r.env, name, of, func() (step, error) {
			draft, err := experiment.Draft[vargp.Checkpoint](r.env, name, of)
			if err != nil {
				return step{}, err
			}
			return r.learn(ctx, p, before, draft, run, task)
		})
		if err != nil {
			return nil, err
		}
		steps, before = append(steps, now), now
	}
	return steps, nil
}

// every is the number of epochs between progress notes.
const every = 50

// learn learns a task, resuming from its draft if there is one, and tests all
// tasks.
func (r runner) learn(ctx context.Context, p plan, before step, draft checkpoint.Part[vargp.Checkpoint], run,
	task int) (step, error) {
	l, err := r.src.at(run, task)
	if err != nil {
		return step{}, err
	}
	m, heads, err := r.begin(p, before, l, run, task)
	if err != nil {
		return step{}, err
	}
	valid := l.valid
	if r.Protocol == Paper {
		for earlier := range task {
			old, err := r.src.at(run, earlier)
			if err != nil {
				return step{}, err
			}
			valid.join(old.valid)
		}
	}
	headsOf := func(classes []int) []int {
		out := make([]int, len(classes))
		for i, c := range classes {
			out[i] = heads[c]
		}
		return out
	}
	k := vargp.Task{
		X: l.train.x, Y: headsOf(l.train.y), ValidX: valid.x, ValidY: headsOf(valid.y),
		Resume: draft.Load(), Save: draft.Save, SaveEvery: r.Checkpoint,
		Progress: func(e vargp.Epoch) {
			if r.env.Note != nil && e.Number%every == 0 {
				r.env.Note("training", "variant", p.variant, "run", run+1, "task", task+1, "epoch", e.Number, "of",
					e.Of, "nll", math.Round(e.NLL), "accuracy", e.Accuracy)
			}
		},
	}
	for g := range m.Groups() {
		order := random.Stream(r.env.Seed, "experiment/vargp/inducing", run, task, g).Perm(len(l.train.y))
		k.Inputs = append(k.Inputs, dense.Gather(l.train.x, order[:min(p.inducing, len(order))]))
	}
	trace, err := m.Learn(ctx, k)
	if err == nil {
		err = draft.Remove()
	}
	if err != nil {
		return step{}, err
	}
	now := step{Model: m.Snapshot(), Heads: heads, Epochs: len(trace.Epochs), Kept: trace.Kept}
	q, err := m.Predictor()
	if err != nil {
		return step{}, err
	}
	return now, r.test(&now, q.LogProb, m.Heads(), run)
}

// authorsStart is where γ and all length-scales start in the authors' program, which
// also starts the standard deviations of their logarithms at e⁻¹.
const authorsStart = 0.5

// begin returns the model to train on a task, either new or the previous
// task's, with heads for the task's classes, and the head of each class.
func (r runner) begin(p plan, before step, l lesson, run, task int) (m *vargp.Model, heads []int, err error) {
	cfg, d := r.model(p.variant, r.env.Seed+uint64(run)), l.train.x.Cols
	heads = slices.Clone(before.Heads)
	switch {
	case task > 0:
		m, err = vargp.Restore(cfg, d, before.Model)
	case r.Protocol == Paper:
		for class := range r.classesInAll() {
			heads = append(heads, class)
		}
		m, err = vargp.New(cfg, d, len(heads), cmp.Or(r.Lengthscale, 1))
	default:
		heads = slices.Repeat([]int{-1}, r.classesInAll())
		m, err = vargp.New(cfg, d, 1, cmp.Or(r.Lengthscale, 1))
	}
	if err == nil && task == 0 {
		switch {
		case r.Protocol == Paper:
			m.StartAt(authorsStart, cmp.Or(r.Lengthscale, authorsStart), math.Exp(-1))
		case r.Lengthscale == 0:
			err = m.StartAtSpread(l.train.x)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	m = m.On(r.env.Backend)
	for _, class := range l.train.y {
		if heads[class] < 0 {
			heads[class] = m.Split(0)
		}
	}
	return m, heads, nil
}

// test tests all tasks. The prediction is the most probable class among those
// seen so far.
func (r runner) test(now *step, logProb func(dst, x blas64.General) error, heads, run int) error {
	for task := range r.Tasks {
		l, err := r.src.at(run, task)
		if err != nil {
			return err
		}
		lp := dense.New(l.test.x.Rows, heads)
		if err := logProb(lp, l.test.x); err != nil {
			return err
		}
		accuracy, entropy := 0.0, 0.0
		for i, class := range l.test.y {
			row := dense.Row(lp, i)
			entropy += classifier.Entropy(row) / math.Log(float64(len(row)))
			best := -1
			for _, h := range now.Heads {
				if h >= 0 && (best < 0 || row[h] > row[best]) {
					best = h
				}
			}
			if h := now.Heads[class]; h >= 0 && best == h {
				accuracy++
			}
		}
		n := float64(len(l.test.y))
		now.Accuracy, now.Entropy = append(now.Accuracy, accuracy/n), append(now.Entropy, entropy/n)
	}
	return nil
}
