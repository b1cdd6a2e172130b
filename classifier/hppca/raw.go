package hppca

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/kmeans"
	"github.com/seed-90d10d51/pipeline/classifier/kit/lowrank"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// rawSamples is the number of examples of a class that are clustered (5.1.4).
const rawSamples = 20

// examplesOf returns a function that returns the examples of a class of a
// session.
func (c Config) examplesOf(s *moments.Session) func(string) blas32.General {
	return func(class string) blas32.General {
		i, _ := slices.BinarySearchFunc(s.Classes, class,
			func(e moments.Examples, name string) int { return strings.Compare(e.Class, name) })
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
func (c Config) rawClusters(ctx context.Context, backend linalg.Backend, gs []lowrank.Gaussian, names []string,
	size int, examples func(string) blas32.General) (clusters, error) {
	if examples == nil {
		return clusters{}, fmt.Errorf("cluster %s needs the examples of all classes, which are not stored: %w",
			ClusterRaw, classifier.ErrUnsupported)
	}
	var x blas32.General
	var owner []int
	for i, name := range names {
		own := examples(name)
		x = blas32.General{Rows: x.Rows + own.Rows, Cols: own.Cols, Stride: own.Cols, Data: append(x.Data, own.Data...)}
		owner = append(owner, slices.Repeat([]int{i}, own.Rows)...)
	}
	at, err := kmeans.Cluster(ctx, backend, x, kmeans.Config{Clusters: min(size, x.Rows), Candidates: 1,
		Rounds: c.MaxIter}, random.Stream(c.Seed, "classifier/hppca/raw"))
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
