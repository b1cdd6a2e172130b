package dkl

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/dkl"
	"github.com/seed-90d10d51/pipeline/eval/experiment"
	"github.com/seed-90d10d51/pipeline/eval/metrics"
	"github.com/seed-90d10d51/pipeline/gptree"
	"github.com/seed-90d10d51/pipeline/method"
)

// judge measures a classifier on p.
func judge(c classifier.Head, p experiment.Labelled) (*metrics.Report, error) {
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

// split holds some images of every class out.
func split(p experiment.Labelled, held int, seed uint64) (learned, out experiment.Labelled, err error) {
	var in, test []int
	for i, g := range classifier.GroupByClass(p.Y) {
		if len(g.Rows) <= held {
			return learned, out, &experiment.InputError{Err: fmt.Errorf("class %s has %d training images, %d of them are to be held out: lower experiment.deepkernel.held_out", g.Class, len(g.Rows), held)}
		}
		rows := slices.Clone(g.Rows)
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		test, in = append(test, rows[:held]...), append(in, rows[held:]...)
	}
	return p.Pick(in), p.Pick(test), nil
}

// A figure is what one classifier reached with one seed.
type figure struct {
	Accuracy, NLL, ECE float64
}

// A contender is a classifier of the table on base classes.
type contender struct {
	name  string
	learn func(context.Context, experiment.Labelled, uint64) (classifier.Head, error)
}

func (l lab) contenders(setting string) []contender {
	tree := func(with string) func(context.Context, experiment.Labelled, uint64) (classifier.Head, error) {
		return func(ctx context.Context, p experiment.Labelled, seed uint64) (classifier.Head, error) {
			head, err := l.head("gptree", with, seed)
			if err == nil {
				err = head.Learn(ctx, p.X, p.Y)
			}
			return head, err
		}
	}
	return []contender{
		{"softmax", func(ctx context.Context, p experiment.Labelled, seed uint64) (classifier.Head, error) {
			return l.softmax(ctx, setting, p, seed)
		}},
		{"gptree", tree(none)},
		{"gptree behind phase 1", tree(entropyOnly(setting))},
		{"gptree behind both phases", tree(setting)},
	}
}

// entropyOnly is the setting with as many epochs, all of phase 1.
func entropyOnly(setting string) string {
	t, err := parse(setting)
	if err != nil {
		return setting
	}
	return fmt.Sprintf("%s pretrain=%d", setting, t.Resolved().Epochs)
}

// softmax returns phase 1 with its classifier.
func (l lab) softmax(ctx context.Context, setting string, p experiment.Labelled, seed uint64) (classifier.Head, error) {
	t, err := parse(entropyOnly(setting))
	if err != nil {
		return nil, err
	}
	t.Seed = seed
	tree := method.Get[gptree.Config](l.s.Heads, "gptree")
	tree.Seed = l.s.Heads.Seed
	trainer, err := dkl.NewTrainer(t, tree, dkl.Examples{X: p.X, Y: p.Y}, l.s.Backend)
	if err != nil {
		return nil, err
	}
	if err := l.train(ctx, trainer); err != nil {
		return nil, err
	}
	return trainer.Softmax()
}

// base is the table on base classes.
func (l lab) base(ctx context.Context, setting string) ([]Quality, error) {
	x, y := l.bench.Train(0)
	all := experiment.Labelled{X: x, Y: y}
	var list []Quality
	for n, c := range l.contenders(setting) {
		q := Quality{Classifier: c.name}
		for i := range l.c.Seeds {
			seed := l.s.Seed + uint64(i)
			f, err := experiment.Part(ctx, l.s, fmt.Sprintf("base_%d_seed%d", n, i), []any{l.fingerprint, l.s.Heads, setting, l.c.HeldOut, c.name, i}, func() (figure, error) {
				learned, out, err := split(all, l.c.HeldOut, seed)
				if err != nil {
					return figure{}, err
				}
				head, err := c.learn(ctx, learned, seed)
				if err != nil {
					return figure{}, err
				}
				r, err := judge(head, out)
				if err != nil {
					return figure{}, err
				}
				return figure{r.Accuracy, r.NLLNats, r.ECE}, nil
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
