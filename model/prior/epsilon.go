package prior

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/linalg"
	"github.com/seed-90d10d51/pipeline/model/classstats"
)

const (
	// mostTold is the largest number of classes of a half of a data set that are told
	// apart.
	mostTold = 200
	// tolerance is the share by which the likelihood may get worse as ε falls. With one
	// example of a class, smaller ε than the likelihood asks for name more of CLIP's
	// embeddings correctly.
	tolerance = 0.03
)

// Examples is what a prior needs of labelled embeddings besides their statistics: their
// hashes, and two of each class. The two are those of the smallest content hashes,
// whatever the order in which embeddings are seen.
type Examples struct {
	rows  []classstats.Hash
	pairs map[string][]example
}

type example struct {
	content classstats.Hash
	row     []float32
}

// See adds an embedding.
func (e *Examples) See(class string, content classstats.Hash, row []float32) {
	e.rows = append(e.rows, embedding.HashRow(row))
	pair := e.pairs[class]
	at, seen := slices.BinarySearchFunc(pair, content,
		func(x example, c classstats.Hash) int { return compare(x.content, c) })
	if seen || at == 2 {
		return
	}
	pair = slices.Insert(pair, at, example{content, slices.Clone(row)})
	if e.pairs == nil {
		e.pairs = map[string][]example{}
	}
	e.pairs[class] = pair[:min(len(pair), 2)]
}

// pairs holds two examples of each class (C×d), scaled to length 1.
type pairs struct{ first, second blas64.General }

// of returns the pairs of some classes.
func (e *Examples) of(classes []string) pairs {
	var p pairs
	if e == nil {
		return p
	}
	for _, name := range classes {
		pair := e.pairs[name]
		if len(pair) < 2 || p.first.Rows == mostTold {
			continue
		}
		p.first, p.second = appended(p.first, pair[0].row), appended(p.second, pair[1].row)
	}
	return p
}

func appended(m blas64.General, row []float32) blas64.General {
	unit := classifier.Placed(blas32.General{Rows: 1, Cols: len(row), Stride: len(row), Data: row}, []int{0}, true)
	return blas64.General{Rows: m.Rows + 1, Cols: len(row), Stride: len(row), Data: append(m.Data, unit.Data...)}
}

// half is one of two halves of all classes.
type half struct {
	within  []float32 // covariance within its classes (d×d)
	degrees int
	sets    []pairs
}

// halved deals classes, by the content of their first image.
func halved(classes []classstats.Class) (out [2][]classstats.Class) {
	order := slices.Clone(classes)
	slices.SortStableFunc(order, func(a, b classstats.Class) int {
		return compare(slices.MinFunc(a.Content, compare), slices.MinFunc(b.Content, compare))
	})
	for i, c := range order {
		out[i%2] = append(out[i%2], c)
	}
	return out
}

// ChooseEpsilon chooses ε for models with one image of each class, from which it cannot
// be chosen: the covariance of one half of the classes is the prior of a model of one
// image of each class of the other half, which names another image of each. How far a
// covariance can be trusted to whiten depends on the backbone: embeddings of CLIP
// gain from ε = 0.5, those of a network trained for nearest class means lose by anything
// below 0.9. Without examples of two classes in each half, ε stays unknown. O(sets·d³).
func (p *Prior) ChooseEpsilon(ctx context.Context, backend linalg.Backend) error {
	a, b := &p.halves[0], &p.halves[1]
	tasks := len(a.sets) + len(b.sets)
	if a.degrees == 0 || b.degrees == 0 || tasks == 0 {
		return nil
	}
	try := func(epsilon float64) (gauss.Trial, error) {
		mean := gauss.Trial{Epsilon: epsilon}
		for _, h := range [][2]*half{{a, b}, {b, a}} {
			prior := &gauss.Prior{Within: wide(h[0].within, p.Dim)}
			for _, set := range h[1].sets {
				t, err := prior.OneShot(backend, set.first, set.second, epsilon)
				if err != nil {
					return mean, err
				}
				mean.NLL += t.NLL / float64(tasks)
				mean.Accuracy += t.Accuracy / float64(tasks)
			}
		}
		return mean, nil
	}
	_, epsilon, err := gauss.ChooseEpsilon(ctx, tolerance, try)
	p.Epsilon = epsilon
	return err
}
