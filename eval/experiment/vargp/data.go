package vargp

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/dataset/idx"
	"github.com/seed-90d10d51/pipeline/eval/experiment"
	"github.com/seed-90d10d51/pipeline/eval/fscil"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// A part is labelled inputs; classes are numbered in the order in which they
// come.
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
		p.add(q.x.Data[i*q.x.Stride:i*q.x.Stride+q.x.Cols], c)
	}
}

// A lesson is the data of a task.
type lesson struct{ train, valid, test part }

// A source gives the lessons of a run; it makes them when they are asked for.
type source struct {
	of string // changes with the data
	at func(run, task int) (lesson, error)
}

// stream is a source of random numbers of its own for every purpose.
func stream(seed uint64, purpose string, numbers ...int) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprintf(h, "experiment/vargp/%s/%v", purpose, numbers)
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// source opens the data.
func (c Config) source(s experiment.Env) (source, error) {
	switch c.Data {
	case Toy:
		return source{of: Toy, at: func(run, task int) (lesson, error) { return c.toy(s.Seed, run, task), nil }}, nil
	case Features:
		return c.features(s)
	}
	return c.idx(s.Seed)
}

// A cloud is a normal distribution in the plane: x and y have deviations sx and
// sy and the correlation r.
type cloud struct{ x, y, sx, sy, r float64 }

// clouds are the classes of the toy (Fig. 2), with the numbers of the authors'
// program, in the order in which they come.
var clouds = [...]cloud{
	{0.3, 0.5, 0.4, 0.4, 0},
	{0, -1.2, 0.6, 0.1, 0},
	{2, 0, 0.1, 0.6, 0},
	{-1, 0.5, math.Sqrt(0.2), math.Sqrt(0.1), math.Sqrt(0.5)},
}

// draw returns a point of the cloud.
func (c cloud) draw(rng *rand.Rand) []float64 {
	a, b := rng.NormFloat64(), rng.NormFloat64()
	return []float64{c.x + c.sx*a, c.y + c.sy*(c.r*a+math.Sqrt(1-c.r*c.r)*b)}
}

// toy draws a lesson in the plane.
func (c Config) toy(seed uint64, run, task int) lesson {
	var l lesson
	for k := range c.Classes {
		class := task*c.Classes + k
		rng := stream(seed, "toy", run, class)
		sizes := []int{c.Train, int(c.Validation * float64(c.Train)), c.Test}
		for i, p := range []*part{&l.train, &l.valid, &l.test} {
			for range sizes[i] {
				p.add(clouds[class].draw(rng), class)
			}
		}
	}
	return l
}

// features draws classes of the first session.
func (c Config) features(s experiment.Env) (source, error) {
	if s.Features == "" {
		return source{}, &experiment.InputError{Err: fmt.Errorf("no embeddings: give a feature folder with --features")}
	}
	m, err := s.Open(s.Features)
	if err != nil {
		return source{}, err
	}
	b := m.Benches[0]
	_, y := b.Train(0)
	names := classifier.GroupByClass(y)
	if len(names) < c.classesInAll() {
		return source{}, &experiment.InputError{Err: fmt.Errorf("%d classes in the first session, %d are needed: change experiment.vargp.tasks or classes", len(names), c.classesInAll())}
	}
	return source{of: m.Fingerprint, at: func(run, task int) (lesson, error) {
		order := stream(s.Seed, "classes", run).Perm(len(names))
		var chosen []string
		for _, i := range order[task*c.Classes : (task+1)*c.Classes] {
			chosen = append(chosen, names[i].Class)
		}
		return c.lessonOf(b, chosen, s.Seed, run, task), nil
	}}, nil
}

func (c Config) lessonOf(b *fscil.Bench, chosen []string, seed uint64, run, task int) lesson {
	var l lesson
	x, y := b.Train(0)
	for _, g := range classifier.GroupByClass(y) {
		if k := slices.Index(chosen, g.Class); k >= 0 {
			class := task*c.Classes + k
			z := classifier.Placed(x, g.Rows, c.Normalize)
			c.divide(&l, z, class, stream(seed, "examples", run, class))
		}
	}
	x, y = b.Test(0)
	for _, g := range classifier.GroupByClass(y) {
		if k := slices.Index(chosen, g.Class); k >= 0 {
			rows := g.Rows
			if c.Test > 0 {
				rows = rows[:min(len(rows), c.Test)]
			}
			z := classifier.Placed(x, rows, c.Normalize)
			for i := range z.Rows {
				l.test.add(z.Data[i*z.Stride:i*z.Stride+z.Cols], task*c.Classes+k)
			}
		}
	}
	return l
}

// divide shuffles examples of a class into those that train and those that
// validate.
func (c Config) divide(l *lesson, z blas64.General, class int, rng *rand.Rand) {
	order := rng.Perm(z.Rows)
	if c.Train > 0 {
		order = order[:min(len(order), c.Train)]
	}
	held := int(c.Validation * float64(len(order)))
	for i, r := range order {
		row := z.Data[r*z.Stride : r*z.Stride+z.Cols]
		if i < held {
			l.valid.add(row, class)
		} else {
			l.train.add(row, class)
		}
	}
}

// idx reads the two parts of a folder.
func (c Config) idx(seed uint64) (source, error) {
	if c.Folder == "" {
		return source{}, &experiment.InputError{Err: fmt.Errorf("experiment.vargp.folder is empty: give the folder of train-images-idx3-ubyte and its three companions with --set experiment.vargp.folder=DIR")}
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
		return source{}, &experiment.InputError{Err: fmt.Errorf("training images have %d pixels, test images %d", train.Pixels, test.Pixels)}
	}
	if most := int(slices.Max(train.Labels)) + 1; most < c.classesInAll() {
		return source{}, &experiment.InputError{Err: fmt.Errorf("labels end at %d, %d classes are needed: change experiment.vargp.tasks or classes", most-1, c.classesInAll())}
	}
	sum := fnv.New64a()
	for _, b := range [][]byte{train.Images, train.Labels, test.Images, test.Labels} {
		_, _ = sum.Write(b) // a hash never fails
	}
	return source{of: fmt.Sprintf("%x", sum.Sum64()), at: func(run, task int) (lesson, error) {
		var l lesson
		for k := range c.Classes {
			class := k
			if c.Data == Split {
				class += task * c.Classes
			}
			c.divide(&l, c.pixels(train, class, 0, seed, task), class, stream(seed, "examples", run, class))
			z := c.pixels(test, class, c.Test, seed, task)
			l.test.join(part{z, slices.Repeat([]int{class}, z.Rows)})
		}
		if len(l.train.y) == 0 || len(l.test.y) == 0 {
			return l, &experiment.InputError{Err: fmt.Errorf("task %d: %d training and %d test images", task+1, len(l.train.y), len(l.test.y))}
		}
		return l, nil
	}}, nil
}

// pixels returns images of a class as numbers from 0 to 1, permuted by the
// task.
func (c Config) pixels(from idx.Labelled, class, most int, seed uint64, task int) blas64.General {
	order := make([]int, from.Pixels)
	for j := range order {
		order[j] = j
	}
	if c.Data == Permuted && task > 0 {
		order = stream(seed, "pixels", task).Perm(from.Pixels)
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
		to := z.Data[i*z.Stride : (i+1)*z.Stride]
		for j, o := range order {
			to[j] = float64(image[o]) / 255
		}
		if c.Normalize {
			unit(to)
		}
	}
	return z
}

func unit(v []float64) {
	sq := 0.0
	for _, x := range v {
		sq += x * x
	}
	if sq == 0 {
		return
	}
	for j := range v {
		v[j] /= math.Sqrt(sq)
	}
}
