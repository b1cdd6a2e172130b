// Package dkl measures what deep kernel learning gains on a frozen backbone
// (Achituve et al., "GP-Tree", ICML 2021, §5.2 and 5.3 in shape).
//
// Choosing: every candidate (Config.Candidates, settings of training) is
// trained on the pseudo-base classes of pseudo-sessions inside the base session
// and never sees their pseudo-novel classes; a head behind it learns both. The
// candidate with the largest mean of base and novel accuracy over the methods
// is chosen. No test image is used.
//
// Base (Table 2 in shape): Config.HeldOut training images of every base class
// are held out, and the others are learned by a linear softmax on the
// embeddings, the phase-1 head with its softmax, and gptree without a
// projection, behind a projection trained by phase 1 alone, and behind one
// trained by both phases. Measured are accuracy, negative log-likelihood and
// expected calibration error; no temperature is fitted.
//
// Sessions: the benchmark's sessions with every method, with and without the
// projection.
//
// Base and Sessions are averaged over Config.Seeds seeds of everything random
// and reported with the standard error of the mean.
//
//	symbol      field          meaning
//	softmax     –              W x + b on embeddings of length √d: phase 1 without a projection
//	phase 1     Setting        cross-entropy only, same number of epochs
//	dkl         Setting        both phases
//
// Cost: seeds × (two trainings and the fits); splits × candidates trainings on
// most of the base session. Every training is a part: an interrupted run
// resumes after the last one finished.
package dkl

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
	"github.com/seed-90d10d51/pipeline/dkl"
	"github.com/seed-90d10d51/pipeline/gptree"
	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/label/metrics"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/fscil"
	"github.com/seed-90d10d51/pipeline/research/grid"
	"github.com/seed-90d10d51/pipeline/research/table"
	"github.com/seed-90d10d51/pipeline/research/training"
)

// none is the candidate without a projection, for comparison.
const none = "none"

// Run chooses a setting, then measures it.
func (c Config) Run(ctx context.Context, env experiment.Env) (experiment.Outcome, error) {
	m, err := env.Material()
	if err != nil {
		return experiment.Outcome{}, err
	}
	r := runner{c: c, env: env, bench: m.Benches[0], fingerprint: m.Fingerprint,
		trainings: training.Job{Folder: env.Folder("training"), Keyed: true}}
	r.trainings.Folder.Say = nil
	setting, scores, err := r.choose(ctx)
	if err != nil {
		return experiment.Outcome{}, err
	}
	base, err := r.base(setting)
	if err != nil {
		return experiment.Outcome{}, err
	}
	sessions, err := r.sessions(setting)
	if err != nil {
		return experiment.Outcome{}, err
	}
	cells, err := env.Measure(ctx, append(base, sessions...)...)
	if err != nil {
		return experiment.Outcome{}, err
	}
	return c.outcome(cells, scores, setting), nil
}

type runner struct {
	c           Config
	env         experiment.Env
	bench       *fscil.Bench
	fingerprint string
	// trainings are shared by the methods.
	trainings training.Job
}

// head returns an unfitted predictor of a method, with a projection unless
// setting is none.
func (r runner) head(name, setting string, seed uint64) (*model.Predictor, error) {
	settings := r.env.Heads.Seeded(seed)
	settings.WithoutStatistics = true
	s := model.Settings{Method: name, Heads: settings, Temperature: temperature.Config{Temperature: 1},
		Backend: r.env.Backend}
	if setting != none {
		t, err := parse(setting)
		if err != nil {
			return nil, err
		}
		t.Seed = seed
		s.DKL, s.Env.Train = &t, r.trainings.Train
	}
	return model.NewPredictor(s)
}

// sessions returns the tasks that take every method through the benchmark, without
// and with the projection.
func (r runner) sessions(setting string) ([]experiment.Task, error) {
	var tasks []experiment.Task
	for _, m := range r.c.Methods {
		found, err := method.Find(m)
		if err != nil {
			return nil, err
		}
		for _, with := range []string{none, setting} {
			name := m
			if with != none {
				name += " with dkl"
			}
			for i := range r.c.Seeds {
				tasks = append(tasks, experiment.Task{
					Name: fmt.Sprintf("sessions_%s_%t_seed%d", found.Key, with != none, i),
					Of:   []any{r.fingerprint, r.env.Heads, m, with, i},
					Measure: func(ctx context.Context) (grid.Grid, error) {
						run, err := r.bench.Run(ctx,
							func() (classifier.Learner, error) { return r.head(m, with, r.env.Seed+uint64(i)) }, nil)
						if err != nil {
							return nil, err
						}
						return run.Cells(grid.At("method", name)), nil
					},
				})
			}
		}
	}
	return tasks, nil
}

// choose returns the best candidate by pseudo-sessions, with what each reached. A single
// candidate is returned without measuring.
func (r runner) choose(ctx context.Context) (setting string, scores grid.Grid, err error) {
	if len(r.c.Candidates) == 1 {
		return r.c.Candidates[0], nil, nil
	}
	var tasks []experiment.Task
	for i, candidate := range append([]string{none}, r.c.Candidates...) {
		tasks = append(tasks, experiment.Task{
			Name: fmt.Sprintf("choose_%d", i),
			Of:   []any{r.fingerprint, r.env.Heads, candidate, r.c.Splits, r.c.ChooseBy},
			Measure: func(ctx context.Context) (grid.Grid, error) {
				score, err := r.score(ctx, candidate)
				return grid.One(grid.At("setting", candidate), score), err
			},
		})
	}
	if scores, err = r.env.Measure(ctx, tasks...); err != nil {
		return "", nil, err
	}
	best := -1.0
	for _, c := range scores {
		if mean := c.Values["mean"][0]; c.At["setting"] != none && mean > best {
			best, setting = mean, c.At["setting"]
		}
	}
	return setting, scores, nil
}

// score takes one candidate through the pseudo-sessions: accuracies on base and novel
// classes by method, averaged over the splits.
func (r runner) score(ctx context.Context, setting string) (grid.Values, error) {
	score := grid.Values{}
	cfg := episodes.Seeded(r.env.Seed)
	cfg.Splits = r.c.Splits
	x, y := r.bench.Train(0)
	plan, err := episodes.NewPlan(episodes.Episode{X: x, Y: y}, cfg)
	if err != nil {
		return nil, err
	}
	all := experiment.Labelled{X: x, Y: y}
	n := float64(r.c.Splits)
	for _, split := range plan.Splits {
		for _, name := range r.c.ChooseBy {
			head, err := r.head(name, setting, r.env.Seed)
			if err != nil {
				return nil, err
			}
			for _, rows := range [][]int{split.Base, split.Shots} {
				session := all.Pick(rows)
				if err := head.Learn(ctx, session.X, session.Y); err != nil {
					return nil, err
				}
			}
			for part, rows := range [][]int{split.BaseTest, split.NovelTest} {
				report, err := measure(head, all.Pick(rows))
				if err != nil {
					return nil, err
				}
				score[name+[]string{": base", ": novel"}[part]] += report.Accuracy / n
				score["mean"] += report.Accuracy / n / 2 / float64(len(r.c.ChooseBy))
			}
		}
	}
	return score, nil
}

func measure(c classifier.Head, p experiment.Labelled) (*metrics.Report, error) {
	a, err := metrics.NewAccumulator(c.Classes())
	if err != nil {
		return nil, err
	}
	err = classifier.Batches(c, p.X, func(first int, logProb blas64.General) error {
		return a.Add(p.Y[first:first+logProb.Rows], logProb, nil)
	})
	if err != nil {
		return nil, err
	}
	return a.Report()
}

func split(p experiment.Labelled, held int, seed uint64) (learned, out experiment.Labelled, err error) {
	var in, test []int
	for _, g := range classifier.GroupByClass(p.Y) {
		if len(g.Rows) <= held {
			return learned, out, experiment.Inputf("class %s has %d training images, %d of them are to be held out: "+
				"lower experiment.dkl.held_out", g.Class, len(g.Rows), held)
		}
		rows := experiment.Shuffled(g.Rows, random.StreamOf(seed, "experiment/dkl/held", []string{g.Class}))
		test, in = append(test, rows[:held]...), append(in, rows[held:]...)
	}
	return p.Pick(in), p.Pick(test), nil
}

func (r runner) base(setting string) ([]experiment.Task, error) {
	x, y := r.bench.Train(0)
	all := experiment.Labelled{X: x, Y: y}
	onlyEntropy, err := entropyOnly(setting)
	if err != nil {
		return nil, err
	}
	var tasks []experiment.Task
	for n, c := range []struct {
		name, setting string
		learn         func(context.Context, string, experiment.Labelled, uint64) (classifier.Head, error)
	}{
		{"softmax", onlyEntropy, r.softmax}, {"gptree", none, r.tree},
		{"gptree behind phase 1", onlyEntropy, r.tree}, {"gptree behind both phases", setting, r.tree},
	} {
		for i := range r.c.Seeds {
			seed := r.env.Seed + uint64(i)
			tasks = append(tasks, experiment.Task{
				Name: fmt.Sprintf("base_%d_seed%d", n, i),
				Of:   []any{r.fingerprint, r.env.Heads, setting, r.c.HeldOut, c.name, i},
				Measure: func(ctx context.Context) (grid.Grid, error) {
					learned, out, err := split(all, r.c.HeldOut, seed)
					if err != nil {
						return nil, err
					}
					head, err := c.learn(ctx, c.setting, learned, seed)
					if err != nil {
						return nil, err
					}
					m, err := measure(head, out)
					if err != nil {
						return nil, err
					}
					return grid.One(grid.At("classifier", c.name),
						grid.Values{"accuracy": m.Accuracy, "nll": m.NLLNats, "ece": m.ECE}), nil
				},
			})
		}
	}
	return tasks, nil
}

// entropyOnly returns the setting with the same number of epochs, all in phase
// 1.
func entropyOnly(setting string) (string, error) {
	t, err := parse(setting)
	return fmt.Sprintf("%s pretrain=%d", setting, t.Resolved().Epochs), err
}

// tree trains gptree, behind a projection unless the setting is none.
func (r runner) tree(ctx context.Context, setting string, p experiment.Labelled, seed uint64) (classifier.Head, error) {
	head, err := r.head("gptree", setting, seed)
	if err == nil {
		err = head.Learn(ctx, p.X, p.Y)
	}
	return head, err
}

// softmax trains a projection and returns the classifier of phase 1.
func (r runner) softmax(ctx context.Context, setting string, p experiment.Labelled,
	seed uint64) (classifier.Head, error) {
	t, err := parse(setting)
	if err != nil {
		return nil, err
	}
	t.Seed = seed
	tree := method.Get[gptree.Config](r.env.Heads, "gptree")
	tree.Seed = r.env.Heads.Seed
	trainer, err := dkl.NewTrainer(t, tree, dkl.Examples{X: p.X, Y: p.Y}, r.env.Backend)
	if err != nil {
		return nil, err
	}
	if err := r.trainings.Train(ctx, trainer); err != nil {
		return nil, err
	}
	return trainer.Softmax()
}

func (c Config) outcome(cells, scores grid.Grid, setting string) experiment.Outcome {
	percent := grid.MeanSEM("%.2f", 100)
	o := experiment.Outcome{
		Title:   "Deep kernel learning on a frozen backbone",
		Results: experiment.Results{Kind: "dkl", Cells: append(scores, cells...)},
		Tables: []table.Table{
			cells.Table(table.Table{
				Title: "Base classes (Achituve 2021, Table 2 in shape)",
				Note: fmt.Sprintf("%d training images of every base class are held out, the others learned; mean ± "+
					"standard error over %d seeds; no temperature. Softmax is phase 1 with its linear classifier and "+
					"the same number of epochs. Setting: %s.", c.HeldOut, c.Seeds, setting),
			}, []string{"classifier"},
				grid.Column{Title: "accuracy %", Of: "accuracy", Show: percent},
				grid.Column{Title: "NLL", Of: "nll", Show: grid.MeanSEM("%.3f", 1)},
				grid.Column{Title: "ECE %", Of: "ece", Show: percent}),
			cells.Table(table.Table{
				Name: "sessions", Title: "Few-shot sessions",
				Note: "Mean ± standard error over seeds; the benchmark's own test images.",
			}, []string{"method"},
				grid.Column{Title: "first %", Of: "first_accuracy", Show: percent},
				grid.Column{Title: "last %", Of: "accuracy", Show: percent},
				grid.Column{Title: "average %", Of: "average_accuracy", Show: percent},
				grid.Column{Title: "last: base %", Of: "base_accuracy", Show: percent},
				grid.Column{Title: "last: novel %", Of: "novel_accuracy", Show: percent}),
		},
	}
	if len(scores) == 0 {
		return o
	}
	var columns []grid.Column
	for _, m := range c.ChooseBy {
		for _, of := range []string{m + ": base", m + ": novel"} {
			columns = append(columns, grid.Column{Title: of + " %", Of: of, Show: grid.Percent})
		}
	}
	o.Tables = append(o.Tables, scores.Table(table.Table{
		Name: "choice", Title: "Choosing by pseudo-sessions",
		Note: fmt.Sprintf("Means over %d pseudo-sessions inside the base session; pseudo-novel classes take no part "+
			"in training. Chosen: %s.", c.Splits, setting),
	}, []string{"setting"}, append(columns, grid.Column{Title: "mean %", Of: "mean", Show: grid.Percent})...))
	return o
}
