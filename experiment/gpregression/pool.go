package gpregression

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/experiment"
	"github.com/seed-90d10d51/pipeline/fscil"
)

// A part is labelled embeddings.
type part struct {
	x blas32.General
	y []string
}

func (p part) pick(rows []int) part {
	out := part{x: classifier.Gather(p.x, rows)}
	for _, r := range rows {
		out.y = append(out.y, p.y[r])
	}
	return out
}

func (p part) rowsOf(class string) []int {
	var rows []int
	for i, y := range p.y {
		if y == class {
			rows = append(rows, i)
		}
	}
	return rows
}

// A pool is all training and all test images of a bench.
type pool struct{ train, test part }

func newPool(b *fscil.Bench) pool {
	var p pool
	for s := range b.Sessions() {
		p.train.add(b.Train(s))
		p.test.add(b.Test(s))
	}
	return p
}

func (p *part) add(x blas32.General, y []string) {
	if x.Rows == 0 {
		return
	}
	p.x = blas32.General{Rows: p.x.Rows + x.Rows, Cols: x.Cols, Stride: x.Cols, Data: append(p.x.Data, x.Data...)}
	p.y = append(p.y, y...)
}

// stream is a source of random numbers of its own for every purpose.
func stream(seed uint64, purpose, index int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(purpose)<<32|uint64(index)))
}

// draw returns classes that have images enough, each with its training rows
// in random order, and test images of all of them.
func (p pool) draw(c Config, seed uint64, run int) ([][]int, part, error) {
	rng := stream(seed, 3, run)
	var able []classifier.Group
	for _, g := range classifier.GroupByClass(p.train.y) {
		if len(g.Rows) >= c.most() && slices.Contains(p.test.y, g.Class) {
			able = append(able, g)
		}
	}
	if len(able) < c.Classes {
		return nil, part{}, &experiment.InputError{Err: fmt.Errorf("%d classes have %d training images and some to test, %d are needed: change experiment.gpregression.classes, examples, step or steps", len(able), c.most(), c.Classes)}
	}
	var train [][]int
	var test []int
	for _, i := range rng.Perm(len(able))[:c.Classes] {
		rows := slices.Clone(able[i].Rows)
		rng.Shuffle(len(rows), func(a, b int) { rows[a], rows[b] = rows[b], rows[a] })
		train = append(train, rows)
		some := p.test.rowsOf(able[i].Class)
		rng.Shuffle(len(some), func(a, b int) { some[a], some[b] = some[b], some[a] })
		test = append(test, some[:min(len(some), c.TestPerClass)]...)
	}
	return train, p.test.pick(test), nil
}
