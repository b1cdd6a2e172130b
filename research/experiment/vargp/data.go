package vargp

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/dataset/idx"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/research/experiment"
)

// A part holds labelled inputs; classes are numbered in order of appearance.
type part struct {
	x blas64.General
	y []int
}

func (p *part) add(row []float64, class int) {
	p.x.Cols, p.x.Stride = len(row), len(row)
	p.x.Rows++
	p.x.Data, p.y = append(p.x.Data, row...), append(p.y, class)
}

func (p *part) join(q part) {
	for i, c := range q.y {
		p.add(dense.Row(q.x, i), c)
	}
}

type lesson struct{ train, valid, test part }

// A source provides the lessons of a run, made on demand.
type source struct {
	of string // changes with the data
	at func(run, task int) (lesson, error)
}

func (c Config) source(env experiment.Env) (source, error) {
	switch c.Data {
	case Toy:
		return source{of: Toy, at: func(run, task int) (lesson, error) { return c.toy(env.Seed, run, task), nil }}, nil
	case Features:
		return c.features(env)
	}
	return c.idx(env)
}

// A cloud is a normal distribution in the plane: x and y have deviations sx and
// sy and the correlation r.
type cloud struct{ x, y, sx, sy, r float64 }

// clouds are the classes of the toy (Fig. 2), with the numbers of the authors'
// program, in order of appearance.
var clouds = [...]cloud{
	{0.3, 0.5, 0.4, 0.4, 0},
	{0, -1.2, 0.6, 0.1, 0},
	{2, 0, 0.1, 0.6, 0},
	{-1, 0.5, math.Sqrt(0.2), math.Sqrt(0.1), math.Sqrt(0.5)},
}

func (c cloud) draw(rng *rand.Rand) []float64 {
	a, b := rng.NormFloat64(), rng.NormFloat64()
	return []float64{c.x + c.sx*a, c.y + c.sy*(c.r*a+math.Sqrt(1-c.r*c.r)*b)}
}

func (c Config) toy(seed uint64, run, task int) lesson {
	var l lesson
	for k := range c.Classes {
		class := task*c.Classes + k
		rng := random.Stream(seed, "experiment/vargp/toy", run, class)
		sizes := []int{c.Train, int(c.Validation * float64(c.Train)), c.Test}
		for i, p := range []*part{&l.train, &l.valid, &l.test} {
			for range sizes[i] {
				p.add(clouds[class].draw(rng), class)
			}
		}
	}
	return l
}

func (c Config) features(env experiment.Env) (source, error) {
	m, err := env.Material()
	if err != nil {
		return source{}, err
	}
	b := m.Benches[0]
	_, y := b.Train(0)
	names := classifier.GroupByClass(y)
	if len(names) < c.classesInAll() {
		return source{}, experiment.Inputf("%d classes in the first session, %d are needed: change "+
			"experiment.vargp.tasks or classes", len(names), c.classesInAll())
	}
	return source{of: m.Fingerprint, at: func(run, task int) (l lesson, err error) {
		order := random.Stream(env.Seed, "experiment/vargp/classes", run).Perm(len(names))
		class := map[string]int{}
		for k, i := range order[task*c.Classes : (task+1)*c.Classes] {
			class[names[i].Class] = task*c.Classes + k
		}
		x, y := b.Train(0)
		for _, g := range classifier.GroupByClass(y) {
			if k, ok := class[g.Class]; ok {
				c.divide(&l, classifier.Placed(x, g.Rows, c.Normalize), k,
					random.Stream(env.Seed, "experiment/vargp/examples", run, k))
			}
		}
		x, y = b.Test(0)
		for _, g := range classifier.GroupByClass(y) {
			if k, ok := class[g.Class]; ok {
				rows := g.Rows
				if c.Test > 0 {
					rows = rows[:min(len(rows), c.Test)]
				}
				l.test.join(part{classifier.Placed(x, rows, c.Normalize), slices.Repeat([]int{k}, len(rows))})
			}
		}
		return l, nil
	}}, nil
}

// divide shuffles the examples of a class and splits them into training and
// validation examples.
func (c Config) divide(l *lesson, z blas64.General, class int, rng *rand.Rand) {
	order := rng.Perm(z.Rows)
	if c.Train > 0 {
		order = order[:min(len(order), c.Train)]
	}
	held := int(c.Validation * float64(len(order)))
	for i, r := range order {
		row := dense.Row(z, r)
		if i < held {
			l.valid.add(row, class)
		} else {
			l.train.add(row, class)
		}
	}
}

// mnist is the SHA-256 of the pixels and labels of MNIST's training images, then of its test
// images; mnistAt is where they are.
const (
	mnist   = "06b0d1f124c4e5fa796686ade41a9b778edacc8622f2195a352ef479ad44fc16"
	mnistAt = "https://yann.lecun.com/exdb/mnist/ and https://ossci-datasets.s3.amazonaws.com/mnist/"
)

func (c Config) idx(env experiment.Env) (source, error) {
	seed := env.Seed
	if c.Folder == "" {
		return source{}, experiment.Inputf("experiment.vargp.folder is empty: give the folder of " +
			"train-images-idx3-ubyte and its three companions with --set experiment.vargp.folder=DIR; those of MNIST " +
			"are at " + mnistAt)
	}
	var of [2]idx.Labelled
	for i, name := range []string{idx.Train, idx.Test} {
		var err error
		if of[i], err = idx.Load(c.Folder, name); err != nil {
			return source{}, &experiment.InputError{Err: err}
		}
	}
	train, test := of[0], of[1]
	if train.Pixels != test.Pixels {
		return source{}, experiment.Inputf("training images have %d pixels, test images %d", train.Pixels, test.Pixels)
	}
	if most := int(slices.Max(train.Labels)) + 1; most < c.classesInAll() {
		return source{}, experiment.Inputf("labels end at %d, %d classes are needed: change experiment.vargp.tasks "+
			"or classes", most-1, c.classesInAll())
	}
	sum, digest := fnv.New64a(), sha256.New()
	for _, b := range [][]byte{train.Images, train.Labels, test.Images, test.Labels} {
		_, _ = io.MultiWriter(sum, digest).Write(b) // a hash never fails
	}
	if note := env.Note; note != nil && hex.EncodeToString(digest.Sum(nil)) == mnist {
		note("the images are those of MNIST, as in the paper")
	} else if note != nil {
		note("the images are not those of MNIST: the published rows are of others", "mnist", mnistAt)
	}
	return source{of: fmt.Sprintf("%x", sum.Sum64()), at: func(run, task int) (lesson, error) {
		var l lesson
		for k := range c.Classes {
			class := k
			if c.Data == Split {
				class += task * c.Classes
			}
			c.divide(&l, c.pixels(train, class, 0, seed, task), class,
				random.Stream(seed, "experiment/vargp/examples", run, class))
			z := c.pixels(test, class, c.Test, seed, task)
			l.test.join(part{z, slices.Repeat([]int{class}, z.Rows)})
		}
		if len(l.train.y) == 0 || len(l.test.y) == 0 {
			return l, experiment.Inputf("task %d: %d training and %d test images",
				task+1, len(l.train.y), len(l.test.y))
		}
		return l, nil
	}}, nil
}

// pixels returns images of a class as values from 0 to 1, permuted by the task.
func (c Config) pixels(from idx.Labelled, class, most int, seed uint64, task int) blas64.General {
	order := make([]int, from.Pixels)
	for j := range order {
		order[j] = j
	}
	if c.Data == Permuted && task > 0 {
		order = random.Stream(seed, "experiment/vargp/pixels", task).Perm(from.Pixels)
	}
	var rows []int
	for i, l := range from.Labels {
		if int(l) == class && (most == 0 || len(rows) < most) {
			rows = append(rows, i)
		}
	}
	z := dense.New(len(rows), from.Pixels)
	for i, r := range rows {
		image := from.Images[r*from.Pixels : (r+1)*from.Pixels]
		to := dense.Row(z, i)
		for j, o := range order {
			to[j] = float64(image[o]) / 255
		}
		if n := floats.Norm(to, 2); c.Normalize && n > 0 {
			floats.Scale(1/n, to)
		}
	}
	return z
}
