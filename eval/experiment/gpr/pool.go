package gpr

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/eval/experiment"
	"github.com/seed-90d10d51/pipeline/eval/fscil"
)

// A pool is all training and all test images of a bench.
type pool struct{ train, test experiment.Labelled }

func newPool(b *fscil.Bench) pool {
	train, test := experiment.All(b)
	return pool{train, test}
}

// stream is a source of random numbers of its own for every purpose.
func stream(seed uint64, purpose, index int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(purpose)<<32|uint64(index)))
}

// draw returns classes that have images enough, each with its training rows
// in random order, and test images of all of them.
func (p pool) draw(c Config, seed uint64, run int) ([][]int, experiment.Labelled, error) {
	rng := stream(seed, 3, run)
	var able []classifier.Group
	for _, g := range classifier.GroupByClass(p.train.Y) {
		if len(g.Rows) >= c.most() && slices.Contains(p.test.Y, g.Class) {
			able = append(able, g)
		}
	}
	if len(able) < c.Classes {
		return nil, experiment.Labelled{}, &experiment.InputError{Err: fmt.Errorf("%d classes have %d training images and some to test, %d are needed: change experiment.gpr.classes, examples, step or steps", len(able), c.most(), c.Classes)}
	}
	var train [][]int
	var test []int
	for _, i := range rng.Perm(len(able))[:c.Classes] {
		rows := slices.Clone(able[i].Rows)
		rng.Shuffle(len(rows), func(a, b int) { rows[a], rows[b] = rows[b], rows[a] })
		train = append(train, rows)
		some := p.test.Of(able[i].Class)
		rng.Shuffle(len(some), func(a, b int) { some[a], some[b] = some[b], some[a] })
		test = append(test, some[:min(len(some), c.TestPerClass)]...)
	}
	return train, p.test.Pick(test), nil
}
