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
	"github.com/seed-90d10d51/pipeline/research/training"
)

// Results is the content of results.json. Accuracies are fractions, one value
// per seed.
type Results struct {
	Kind     string    `json:"kind"`
	Choice   Choice    `json:"choice"`
	Base     []Quality `json:"base"`
	Sessions []Curve   `json:"sessions"`
}

// A Quality is the result of one classifier on held-out base images.
type Quality struct {
	Classifier string    `json:"classifier"`
	Accuracy   []float64 `json:"accuracy"`
	NLL        []float64 `json:"nll"`
	ECE        []float64 `json:"ece"`
}

// A Curve is the result of one method over the sessions.
type Curve struct {
	Method string `json:"method"`
	// Projection reports whether the method is behind a projection.
	Projection bool        `json:"projection"`
	Runs       []fscil.Run `json:"runs"`
}

// A Choice is the chosen setting with the scores of every candidate.
type Choice struct {
	Setting string  `json:"setting"`
	Scores  []Score `json:"scores"`
}

// A Score holds a candidate's base and novel accuracies in pseudo-sessions by
// method, averaged over the splits.
type Score struct {
	Setting string             `json:"setting"`
	Base    map[string]float64 `json:"base"`
	Novel   map[string]float64 `json:"novel"`
	Mean    float64            `json:"mean"`
}

// none is the candidate without a projection, for comparison.
const none = "none"

// Run chooses a setting, then measures it.
func Run(ctx context.Context, c Config, env experiment.Env) (experiment.Outcome, error) {
	m, err := env.Material()
	if err != nil {
		return experiment.Outcome{}, err
	}
	r := runner{c: c, env: env, bench: m.Benches[0], fingerprint: m.Fingerprint,
		trainings: training.Job{Folder: env.Folder("training"), Keyed: true}}
	r.trainings.Folder.Say = nil
	out := Results{Kind: "dkl"}
	if out.Choice, err = r.choose(ctx); err != nil {
		return experiment.Outcome{}, err
	}
	if out.Base, err = r.base(ctx, out.Choice.Setting); err != nil {
		return experiment.Outcome{}, err
	}
	if out.Sessions, err = r.sessions(ctx, out.Choice.Setting); err != nil {
		return experiment.Outcome{}, err
	}
	return c.outcome(out)
}

// A runner measures everything.
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

// sessions takes every method through the benchmark, without and with the
// projection.
func (r runner) sessions(ctx context.Context, setting string) ([]Curve, error) {
	var curves []Curve
	for _, m := range r.c.Methods {
		found, err := method.Find(m)
		if err != nil {
			return nil, err
		}
		for _, with := range []string{none, setting} {
			curve := Curve{Method: m, Projection: with != none}
			for i := range r.c.Seeds {
				name := fmt.Sprintf("sessions_%s_%t_seed%d", found.Key, curve.Projection, i)
				run, err := experiment.Part(ctx, r.env, name, []any{r.fingerprint, r.env.Heads, m, with, i},
					func() (fscil.Run, error) {
						return r.bench.Run(ctx,
							func() (classifier.Learner, error) { return r.head(m, with, r.env.Seed+uint64(i)) }, nil)
					})
				if err != nil {
					return nil, err
				}
				curve.Runs = append(curve.Runs, run)
			}
			curves = append(curves, curve)
		}
	}
	return curves, nil
}

// choose returns the best candidate by pseudo-sessions. A single candidate is
// returned without measuring.
func (r runner) choose(ctx context.Context) (Choice, error) {
	var choice Choice
	if len(r.c.Candidates) == 1 {
		return Choice{Setting: r.c.Candidates[0]}, nil
	}
	best := -1.0
	for i, setting := range append([]string{none}, r.c.Candidates...) {
		name := fmt.Sprintf("choose_%d", i)
		score, err := experiment.Part(ctx, r.env, name,
			[]any{r.fingerprint, r.env.Heads, setting, r.c.Splits, r.c.ChooseBy}, func() (Score, error) {
				return r.score(ctx, setting)
			})
		if err != nil {
			return choice, err
		}
		if choice.Scores = append(choice.Scores, score); setting != none && score.Mean > best {
			best, choice.Setting = score.Mean, setting
		}
	}
	return choice, nil
}

// score takes one candidate through the pseudo-sessions.
func (r runner) score(ctx context.Context, setting string) (Score, error) {
	score := Score{Setting: setting, Base: map[string]float64{}, Novel: map[string]float64{}}
	cfg := episodes.Seeded(r.env.Seed)
	cfg.Splits = r.c.Splits
	x, y := r.bench.Train(0)
	plan, err := episodes.NewPlan(episodes.Episode{X: x, Y: y}, cfg)
	if err != nil {
		return score, err
	}
	all := experiment.Labelled{X: x, Y: y}
	n := float64(r.c.Splits)
	for _, split := range plan.Splits {
		for _, name := range r.c.ChooseBy {
			head, err := r.head(name, setting, r.env.Seed)
			if err != nil {
				return score, err
			}
			for _, rows := range [][]int{split.Base, split.Shots} {
				session := all.Pick(rows)
				if err := head.Learn(ctx, session.X, session.Y); err != nil {
					return score, err
				}
			}
			for _, part := range []struct {
				to   map[string]float64
				rows []int
			}{{score.Base, split.BaseTest}, {score.Novel, split.NovelTest}} {
				report, err := measure(head, all.Pick(part.rows))
				if err != nil {
					return score, err
				}
				part.to[name] += report.Accuracy / n
				score.Mean += report.Accuracy / n / 2 / float64(len(r.c.ChooseBy))
			}
		}
	}
	return score, nil
}

// measure tests a classifier on p.
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

// split holds out some images of every class.
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

// A figure is the result of one classifier with one seed.
type figure struct {
	Accuracy, NLL, ECE float64
}

// base measures the table on base classes.
func (r runner) base(ctx context.Context, setting string) ([]Quality, error) {
	x, y := r.bench.Train(0)
	all := experiment.Labelled{X: x, Y: y}
	onlyEntropy, err := entropyOnly(setting)
	if err != nil {
		return nil, err
	}
	var list []Quality
	for n, c := range []struct {
		name, setting string
		learn         func(context.Context, string, experiment.Labelled, uint64) (classifier.Head, error)
	}{
		{"softmax", onlyEntropy, r.softmax}, {"gptree", none, r.tree},
		{"gptree behind phase 1", onlyEntropy, r.tree}, {"gptree behind both phases", setting, r.tree},
	} {
		q := Quality{Classifier: c.name}
		for i := range r.c.Seeds {
			seed := r.env.Seed + uint64(i)
			f, err := experiment.Part(ctx, r.env, fmt.Sprintf("base_%d_seed%d", n, i),
				[]any{r.fingerprint, r.env.Heads, setting, r.c.HeldOut, c.name, i}, func() (figure, error) {
					learned, out, err := split(all, r.c.HeldOut, seed)
					if err != nil {
						return figure{}, err
					}
					head, err := c.learn(ctx, c.setting, learned, seed)
					if err != nil {
						return figure{}, err
					}
					m, err := measure(head, out)
					if err != nil {
						return figure{}, err
					}
					return figure{m.Accuracy, m.NLLNats, m.ECE}, nil
				})
			if err != nil {
				return nil, err
			}
			q.Accuracy, q.NLL, q.ECE = append(q.Accuracy, f.Accuracy), append(q.NLL, f.NLL), append(q.ECE, f.ECE)
		}
		list = append(list, q)
	}
	return list, nil
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
