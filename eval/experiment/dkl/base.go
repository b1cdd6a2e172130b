package dkl

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/dkl"
	"github.com/seed-90d10d51/pipeline/eval/experiment"
	"github.com/seed-90d10d51/pipeline/eval/metrics"
	"github.com/seed-90d10d51/pipeline/gptree"
	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/method"
)

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
			return learned, out, experiment.Inputf("class %s has %d training images, %d of them are to be held out: lower experiment.dkl.held_out", g.Class, len(g.Rows), held)
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
			f, err := experiment.Part(ctx, r.env, fmt.Sprintf("base_%d_seed%d", n, i), []any{r.fingerprint, r.env.Heads, setting, r.c.HeldOut, c.name, i}, func() (figure, error) {
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
func (r runner) softmax(ctx context.Context, setting string, p experiment.Labelled, seed uint64) (classifier.Head, error) {
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
