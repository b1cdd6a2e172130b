package vargp

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/stat"

	"github.com/seed-90d10d51/pipeline/gp/vargp"
	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/internal/setting"
	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/experiment/vargp/internal/network"
)

// Networks holds the settings of the neural networks that VAR-GP is compared with. They
// are variants like the others: vcl, vcl-coreset, ewc and si.
type Networks struct {
	// Hidden are the widths of the hidden layers.
	Hidden []int `mapstructure:"hidden" json:"hidden"`
	// Epochs, Batch and Rate are those of the training of a task by Adam.
	Epochs int     `mapstructure:"epochs" json:"epochs"`
	Batch  int     `mapstructure:"batch" json:"batch"`
	Rate   float64 `mapstructure:"rate" json:"rate"`
	// Coreset is the number of images of a task that vcl-coreset keeps.
	Coreset int `mapstructure:"coreset" json:"coreset"`
	// EWC and SI are the strengths of the penalty to choose from, by the images held
	// out of all tasks of the first run.
	EWC []float64 `mapstructure:"ewc" json:"ewc"`
	SI  []float64 `mapstructure:"si" json:"si"`
}

func defaultNetworks() Networks {
	return Networks{Hidden: []int{100, 100}, Epochs: 100, Batch: 256, Rate: 0.001, Coreset: 100,
		EWC: []float64{10, 100, 1000, 10000}, SI: []float64{0.01, 0.1, 1, 10}}
}

func (n Networks) validate() error {
	for _, one := range []struct {
		name   string
		values []float64
	}{{"networks.ewc", n.EWC}, {"networks.si", n.SI}} {
		if len(one.values) == 0 {
			return fmt.Errorf("%s: is empty; it takes one strength or more", one.name)
		}
		for _, v := range one.values {
			if err := setting.Float(one.name, v, 0, 1e9); err != nil {
				return err
			}
		}
	}
	for _, width := range n.Hidden {
		if err := setting.Int("networks.hidden", width, 1, 1<<12); err != nil {
			return err
		}
	}
	return cmp.Or(
		setting.Int("networks.epochs", n.Epochs, 1, 1e6), setting.Int("networks.batch", n.Batch, 1, 1<<20),
		setting.Float("networks.rate", n.Rate, 1e-8, 10), setting.Int("networks.coreset", n.Coreset, 1, 1<<20))
}

// isNetwork reports whether a variant is a neural network.
func isNetwork(v vargp.Variant) bool { return slices.Contains(network.Methods(), network.Method(v)) }

// strengths returns the strengths to choose from.
func (n Networks) strengths(v vargp.Variant) []float64 {
	switch network.Method(v) {
	case network.EWC:
		return n.EWC
	case network.SI:
		return n.SI
	}
	return []float64{0}
}

// choose chooses the strength of each network's penalty.
func (r *runner) choose(ctx context.Context) error {
	r.strength = map[vargp.Variant]float64{}
	held := *r
	held.src = r.src.heldOut()
	for _, v := range r.Variants {
		candidates := r.Networks.strengths(v)
		r.strength[v] = candidates[0]
		if !isNetwork(v) || len(candidates) == 1 {
			continue
		}
		found := make([]float64, len(candidates))
		err := parallel(ctx, len(candidates), func(ctx context.Context, i int) error {
			one := held
			one.prefix = fmt.Sprintf("strength%d_", i+1)
			one.strength = map[vargp.Variant]float64{v: candidates[i]}
			steps, err := one.learnNetwork(ctx, v, 0)
			if err == nil {
				found[i] = stat.Mean(steps[r.Tasks-1].Accuracy, nil)
			}
			return err
		})
		if err != nil {
			return err
		}
		best := slices.Index(found, slices.Max(found))
		r.strength[v] = candidates[best]
		if r.env.Note != nil {
			r.env.Note("strength chosen on held-out images", "variant", v, "strength", candidates[best],
				"accuracy", found[best])
		}
	}
	return nil
}

// learnNetwork takes a network through the tasks of a run, which is one part.
func (r runner) learnNetwork(ctx context.Context, v vargp.Variant, run int) ([]step, error) {
	c := network.Config{
		Method: network.Method(v), Hidden: r.Networks.Hidden, Epochs: r.Networks.Epochs, Batch: r.Networks.Batch,
		Rate: r.Networks.Rate, Coreset: r.Networks.Coreset, Strength: r.strength[v], Seed: r.env.Seed + uint64(run),
	}
	data := []any{r.Data, r.Tasks, r.Classes, r.Train, r.Test, r.Validation, r.Normalize, r.Protocol}
	name := fmt.Sprintf("%s%s_run%d", r.prefix, v, run+1)
	return experiment.Part(ctx, r.env, name, []any{r.src.of, data, c, run}, func() (steps []step, err error) {
		var l *network.Learner
		heads := slices.Repeat([]int{-1}, r.classesInAll())
		for task := range r.Tasks {
			examples, err := r.src.at(run, task)
			if err != nil {
				return nil, err
			}
			if l == nil {
				l = network.NewLearner(c, examples.train.x.Cols, r.classesInAll())
			}
			for class := range heads {
				if r.Protocol == Paper || slices.Contains(examples.train.y, class) {
					heads[class] = class
				}
			}
			answer, err := l.Learn(ctx, examples.train.x, examples.train.y)
			if err != nil {
				return nil, err
			}
			now := step{Heads: slices.Clone(heads), Epochs: c.Epochs, Kept: c.Epochs}
			if r.Data == Toy {
				now.Network = answer // for its pictures
			}
			if err := r.test(&now, logProbOf(answer, c.Seed), r.classesInAll(), run); err != nil {
				return nil, err
			}
			steps = append(steps, now)
		}
		return steps, nil
	})
}

// networkDraws is the number of draws of a prediction, as in the paper's VAR-GP.
const networkDraws = 10

// logProbOf returns the prediction of a network.
func logProbOf(n *network.Network, seed uint64) func(dst, x blas64.General) error {
	return func(dst, x blas64.General) error {
		n.LogProb(dst, x, networkDraws, random.Stream(seed, "experiment/vargp/network answers"))
		return nil
	}
}
