package hppca

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/lowrank"
	"github.com/seed-90d10d51/pipeline/classifier/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
	"github.com/seed-90d10d51/pipeline/internal/random"
)

const (
	// rawSamples is the number of examples of a class that are clustered (5.1.4).
	rawSamples = 20
	// rawChunk bounds the rows multiplied at a time.
	rawChunk = 4096
)

// examplesOf returns a function that returns the examples of a class of a
// session.
func (c Config) examplesOf(s *moments.Session) func(string) blas32.General {
	return func(class string) blas32.General {
		i, _ := slices.BinarySearchFunc(s.Classes, class, func(e moments.Examples, name string) int { return strings.Compare(e.Class, name) })
		rng := random.StreamOf(c.Seed, "classifier/hppca/examples", []string{class})
		some := s.Classes[i]
		some.Rows = slices.Clone(some.Rows)
		rng.Shuffle(len(some.Rows), func(a, b int) { some.Rows[a], some.Rows[b] = some.Rows[b], some.Rows[a] })
		some.Rows = some.Rows[:min(rawSamples, len(some.Rows))]
		return some.Float32()
	}
}

// rawClusters clusters examples by k-means; a class goes to the cluster with
// most of its examples, among equals the first. Clusters without a class are
// dropped. The super-classes are those of eq. 4.13 and 4.14.
func (c Config) rawClusters(ctx context.Context, backend linalg.Backend, gs []lowrank.Gaussian, names []string, size int, examples func(string) blas32.General) (clusters, error) {
	if examples == nil {
		return clusters{}, fmt.Errorf("cluster %s needs the examples of all classes, which are not stored: %w", ClusterRaw, classifier.ErrUnsupported)
	}
	var x blas32.General
	var owner []int
	for i, name := range names {
		own := examples(name)
		x = blas32.General{Rows: x.Rows + own.Rows, Cols: own.Cols, Stride: own.Cols, Data: append(x.Data, own.Data...)}
		owner = append(owner, slices.Repeat([]int{i}, own.Rows)...)
	}
	at, err := kMeans(ctx, backend, x, min(size, x.Rows), c.MaxIter, random.Stream(c.Seed, "classifier/hppca/raw"))
	if err != nil {
		return clusters{}, err
	}
	of := majority(owner, at, len(gs), size)
	used := slices.Compact(slices.Sorted(slices.Values(of)))
	weights := make([]float64, len(gs))
	for i, s := range of {
		of[i], _ = slices.BinarySearch(used, s)
		weights[i] = 1
	}
	k := means{cfg: c, mul: backend, gs: gs, weights: weights, supers: make([]lowrank.Gaussian, len(used))}
	if err := k.update(ctx, of, dense.Range(0, len(used))); err != nil {
		return clusters{}, err
	}
	return clusters{of: of, supers: k.supers, weights: weightsOf(of, weights, len(used))}, nil
}

// majority returns for each owner the cluster with most of its examples.
func majority(owner, at []int, owners, size int) []int {
	votes := make([]int, owners*size)
	for i, o := range owner {
		votes[o*size+at[i]]++
	}
	of := make([]int, owners)
	for o := range of {
		own := votes[o*size : (o+1)*size]
		for s, v := range own {
			if v > own[of[o]] {
				of[o] = s
			}
		}
	}
	return of
}

// kMeans returns the cluster of every row of x: k-means++ and Lloyd's rounds,
// until nothing moves. A cluster that becomes empty keeps its centre.
func kMeans(ctx context.Context, mul linalg.Backend, x blas32.General, size, rounds int, rng *rand.Rand) ([]int, error) {
	centres := dense.New(size, x.Cols)
	nearest := slices.Repeat([]float64{math.Inf(1)}, x.Rows)
	var chosen []int
	for s := range size {
		at := rng.IntN(x.Rows)
		if s > 0 {
			at = draw(rng, nearest, chosen)
		}
		chosen = append(chosen, at)
		centre := dense.Row(centres, s)
		dense.Widen(centre, dense.Row32(x, at))
		dense.Parallel(x.Rows, func(i int) { nearest[i] = min(nearest[i], squaredTo(dense.Row32(x, i), centre)) })
	}
	var of []int
	for range rounds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		next, err := nearestCentres(mul, x, centres)
		if err != nil || slices.Equal(next, of) {
			return next, err
		}
		of = next
		average(centres, x, of)
	}
	return of, nil
}

func squaredTo(x []float32, centre []float64) float64 {
	var sum float64
	for j, v := range x {
		sum += (float64(v) - centre[j]) * (float64(v) - centre[j])
	}
	return sum
}

// nearestCentres returns the nearest centre of every row, by ‖c‖² − 2xᵀc.
func nearestCentres(mul linalg.Backend, x blas32.General, centres blas64.General) ([]int, error) {
	c := blas32.General{Rows: centres.Rows, Cols: centres.Cols, Stride: centres.Stride, Data: dense.Narrowed(centres.Data)}
	norms := make([]float64, centres.Rows)
	for i, v := range centres.Data {
		norms[i/centres.Stride] += v * v
	}
	of := make([]int, x.Rows)
	for first := 0; first < x.Rows; first += rawChunk {
		rows := dense.Rows32(x, first, min(first+rawChunk, x.Rows))
		product := dense.New32(rows.Rows, c.Rows)
		if err := mul.MulTrans(product, rows, c); err != nil {
			return nil, err
		}
		dense.Parallel(rows.Rows, func(i int) {
			best := math.Inf(1)
			for s, v := range dense.Row32(product, i) {
				if t := norms[s] - 2*float64(v); t < best {
					best, of[first+i] = t, s
				}
			}
		})
	}
	return of, nil
}

// average moves the centres to the means of their rows.
func average(centres blas64.General, x blas32.General, of []int) {
	count := make([]int, centres.Rows)
	for _, s := range of {
		count[s]++
	}
	for s, n := range count {
		if n > 0 {
			clear(dense.Row(centres, s))
		}
	}
	for i, s := range of {
		centre := dense.Row(centres, s)
		for j, v := range dense.Row32(x, i) {
			centre[j] += float64(v) / float64(count[s])
		}
	}
}
