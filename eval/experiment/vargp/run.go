package vargp

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/checkpoint"
	"github.com/seed-90d10d51/pipeline/eval/experiment"
	"github.com/seed-90d10d51/pipeline/gp/vargp"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// A step is what is known after a task.
type step struct {
	// Model is the model; Heads the head of each class, −1 for those to come.
	Model vargp.Snapshot `json:"model"`
	Heads []int          `json:"heads"`
	// Accuracy on and Entropy of the test examples of each task.
	Accuracy []float64 `json:"accuracy"`
	Entropy  []float64 `json:"entropy"`
	// Epochs is how many there were, Kept the one whose parameters stayed.
	Epochs int `json:"epochs"`
	Kept   int `json:"kept"`
}

// A Result is one run, as it stands in results.json; fractions.
type Result struct {
	Variant  vargp.Variant `json:"variant"`
	Inducing int           `json:"inducing"`
	Run      int           `json:"run"`
	// Accuracy and Entropy have a row for each task learned and a column for
	// each task tested.
	Accuracy [][]float64 `json:"accuracy"`
	Entropy  [][]float64 `json:"entropy"`
	Epochs   []int       `json:"epochs"`

	steps []step
}

// final is the accuracy on all tasks after the last.
func (r Result) final() float64 { return r.after(len(r.Accuracy) - 1) }

// after is the mean accuracy on the tasks so far.
func (r Result) after(task int) float64 {
	return stat.Mean(r.Accuracy[task][:task+1], nil)
}

// Run carries out all runs, as many at a time as there are cores.
func Run(ctx context.Context, c Config, env experiment.Env) (experiment.Outcome, error) {
	src, err := c.source(env)
	if err != nil {
		return experiment.Outcome{}, err
	}
	plans := c.plan()
	results := make([]Result, len(plans)*c.Seeds)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	err = dense.ParallelErr(len(results), func(i int) (err error) {
		if results[i], err = c.follow(ctx, env, src, plans[i/c.Seeds], i%c.Seeds); err != nil {
			cancel(err) // the others
		}
		return err
	})
	if err != nil {
		return experiment.Outcome{}, context.Cause(ctx)
	}
	return c.outcome(env, src, results)
}

// A plan is a variant with a number of inducing inputs.
type plan struct {
	variant  vargp.Variant
	inducing int
}

// plan returns what is run: all variants, then the sweep of the first.
func (c Config) plan() []plan {
	var out []plan
	for _, v := range c.Variants {
		out = append(out, plan{v, c.Inducing})
	}
	for _, m := range c.Sweep {
		if m != c.Inducing {
			out = append(out, plan{c.Variants[0], m})
		}
	}
	return out
}

// follow takes a variant through the tasks of a run; each is a part.
func (c Config) follow(ctx context.Context, env experiment.Env, src source, p plan, run int) (Result, error) {
	same := c
	same.Variants = nil // others leave this one as it is
	r := Result{Variant: p.variant, Inducing: p.inducing, Run: run + 1}
	var before step
	for task := range c.Tasks {
		name := fmt.Sprintf("%s_m%d_run%d_task%d", p.variant, p.inducing, run+1, task+1)
		of := []any{src.of, same, p.variant, p.inducing, run, task}
		now, err := experiment.Part(ctx, env, name, of, func() (step, error) {
			d, err := experiment.Draft[vargp.Checkpoint](env, name, of)
			if err != nil {
				return step{}, err
			}
			return c.take(ctx, env, src, p, before, d, run, task)
		})
		if err != nil {
			return r, err
		}
		r.steps = append(r.steps, now)
		r.Accuracy, r.Entropy, r.Epochs = append(r.Accuracy, now.Accuracy), append(r.Entropy, now.Entropy), append(r.Epochs, now.Epochs)
		before = now
	}
	return r, nil
}

// take learns a task and tests all.
func (c Config) take(ctx context.Context, env experiment.Env, src source, p plan, before step, d checkpoint.Part[vargp.Checkpoint], run, task int) (step, error) {
	l, err := src.at(run, task)
	if err != nil {
		return step{}, err
	}
	m, heads, err := c.model0(env, p, before, run, task, l)
	if err != nil {
		return step{}, err
	}
	k := vargp.Task{X: l.train.x, Y: headsOf(heads, l.train.y)}
	valid := l.valid
	if c.Protocol == Paper {
		for earlier := range task {
			old, err := src.at(run, earlier)
			if err != nil {
				return step{}, err
			}
			valid.join(old.valid)
		}
	}
	k.ValidX, k.ValidY = valid.x, headsOf(heads, valid.y)
	for g := range m.Groups() {
		order := stream(env.Seed, "inducing", run, task, g).Perm(len(l.train.y))
		k.Inputs = append(k.Inputs, dense.Gather(l.train.x, order[:min(p.inducing, len(order))]))
	}
	k.Progress = func(e vargp.Epoch) {
		if env.Note != nil && e.Number%every == 0 {
			env.Note("training", "variant", p.variant, "run", run+1, "task", task+1, "epoch", e.Number, "of", e.Of, "nll", math.Round(e.NLL), "accuracy", e.Accuracy)
		}
	}
	k.Resume, k.Save, k.SaveEvery = d.Load(), d.Save, c.Checkpoint
	trace, err := m.Learn(ctx, k)
	if err == nil {
		err = d.Remove()
	}
	if err != nil {
		return step{}, err
	}
	now := step{Model: m.Snapshot(), Heads: heads, Epochs: len(trace.Epochs), Kept: trace.Kept}
	return now, c.test(&now, m, src, run)
}

// every is the number of epochs between two notes.
const every = 50

// model0 returns the model before a task, with heads for its classes, and the
// head of each class.
func (c Config) model0(env experiment.Env, p plan, before step, run, task int, l lesson) (*vargp.Model, []int, error) {
	cfg := c.model(p.variant, env.Seed+uint64(run))
	heads := slices.Clone(before.Heads)
	m, err := c.begin(cfg, before, task, l)
	if err != nil {
		return nil, nil, err
	}
	if env.Backend != nil {
		m = m.On(env.Backend)
	}
	if task == 0 {
		for class := range c.classesInAll() {
			h := -1
			if c.Protocol == Paper {
				h = class
			}
			heads = append(heads, h)
		}
	}
	for _, class := range l.train.y {
		if heads[class] < 0 {
			heads[class] = m.Split(0)
		}
	}
	return m, heads, nil
}

// begin returns the model of the task before, or a new one.
func (c Config) begin(cfg vargp.Config, before step, task int, l lesson) (*vargp.Model, error) {
	if task > 0 {
		return vargp.Restore(cfg, l.train.x.Cols, before.Model)
	}
	heads := 1
	if c.Protocol == Paper {
		heads = c.classesInAll()
	}
	m, err := vargp.New(cfg, l.train.x.Cols, heads, cmp.Or(c.Lengthscale, 1))
	if err == nil && c.Lengthscale == 0 {
		err = m.StartAtSpread(l.train.x)
	}
	return m, err
}

func headsOf(heads, y []int) []int {
	out := make([]int, len(y))
	for i, c := range y {
		out[i] = heads[c]
	}
	return out
}

// test tests all tasks.
func (c Config) test(now *step, m *vargp.Model, src source, run int) error {
	q, err := m.Predictor()
	if err != nil {
		return err
	}
	for task := range c.Tasks {
		l, err := src.at(run, task)
		if err != nil {
			return err
		}
		lp := dense.New(l.test.x.Rows, m.Heads())
		if err := q.LogProb(lp, l.test.x); err != nil {
			return err
		}
		accuracy, entropy := 0.0, 0.0
		for i, class := range l.test.y {
			row := dense.Row(lp, i)
			entropy += classifier.Entropy(row) / math.Log(float64(len(row)))
			if h := now.Heads[class]; h >= 0 && best(row, now.Heads) == h {
				accuracy++
			}
		}
		n := float64(len(l.test.y))
		now.Accuracy, now.Entropy = append(now.Accuracy, accuracy/n), append(now.Entropy, entropy/n)
	}
	return nil
}

// best is the head of the most probable class that came.
func best(lp []float64, heads []int) int {
	most := -1
	for _, h := range heads {
		if h >= 0 && (most < 0 || lp[h] > lp[most]) {
			most = h
		}
	}
	return most
}
