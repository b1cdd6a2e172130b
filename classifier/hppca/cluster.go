package hppca

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier/kit/lowrank"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// assignChunk is the number of Gaussians compared at a time.
const assignChunk = 64

// clusters holds the super-classes of some Gaussians.
type clusters struct {
	of      []int // the super-class of each Gaussian
	supers  []lowrank.Gaussian
	weights []float64 // number of classes below each super-class
}

// cluster is Algorithm 2 without the fit of the classes: k-means of Gaussians.
// weights holds the number of classes behind each of gs, so that super-classes
// of any level have the moments of the classes below them. No super-class is
// empty.
func (c Config) cluster(ctx context.Context, mul linalg.Backend, gs []lowrank.Gaussian, weights []float64, size,
	level int) (clusters, error) {
	set := lowrank.NewSet(gs, mul)
	seeds, err := c.seeds(ctx, set, gs, size, level)
	if err != nil {
		return clusters{}, err
	}
	k := means{cfg: c, mul: mul, set: set, gs: gs, weights: weights, kl: dense.New(len(gs), size),
		exact: make([]bool, len(gs)*size), supers: make([]lowrank.Gaussian, size)}
	changed := make([]int, size)
	for i, j := range seeds { // (x_j, I)
		changed[i], k.supers[i] = i, lowrank.Gaussian{Mean: gs[j].Mean, Lambda: 1}
	}
	var seen [][]int
	for range c.MaxIter {
		of, err := k.assign(ctx, changed)
		if err != nil {
			return clusters{}, err
		}
		last := len(seen) - 1
		if last >= 0 && slices.Equal(of, seen[last]) {
			break
		}
		if changed = dense.Range(0, size); last >= 0 {
			changed = moved(seen[last], of)
		}
		again := slices.ContainsFunc(seen, func(s []int) bool { return slices.Equal(s, of) })
		seen = append(seen, of)
		if err := k.update(ctx, of, changed); err != nil {
			return clusters{}, err
		}
		if again {
			break
		}
	}
	of := seen[len(seen)-1]
	return clusters{of: of, supers: k.supers, weights: weightsOf(of, weights, size)}, nil
}

// seeds is Algorithm 3: k-means++ weighted by the Bhattacharyya distance from
// each Gaussian to the nearest seed so far.
func (c Config) seeds(ctx context.Context, set *lowrank.Set, gs []lowrank.Gaussian, size, level int) ([]int, error) {
	rng := random.Stream(c.Seed, "classifier/hppca/cluster", level)
	seeds := []int{rng.IntN(len(gs))}
	nearest := slices.Repeat([]float64{math.Inf(1)}, len(gs))
	distance := make([]float64, len(gs))
	for len(seeds) < size {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		last := seeds[len(seeds)-1]
		if err := set.Bhattacharyya(distance, gs[last], c.SeedDistance == SeedMean); err != nil {
			return nil, err
		}
		for i, v := range distance {
			nearest[i] = min(nearest[i], v)
		}
		nearest[last] = 0
		seeds = append(seeds, random.Another(rng, nearest, seeds))
	}
	return seeds, nil
}

// means holds the state of k-means of Gaussians.
type means struct {
	cfg     Config
	mul     linalg.Backend
	set     *lowrank.Set
	gs      []lowrank.Gaussian
	weights []float64
	supers  []lowrank.Gaussian
	kl      blas64.General // of each Gaussian from each super-class, or a lower bound
	exact   []bool         // whether a divergence is exact
	order   []int          // Gaussians, with similar ones next to each other
}

// assign returns the super-class with the smallest KL divergence (eq. 4.11) for
// every Gaussian. For super-classes that changed it first computes lower bounds
// only. A super-class that would be empty gets the Gaussian that is farthest
// from its own.
func (k *means) assign(ctx context.Context, changed []int) ([]int, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	bounds := dense.New(len(k.gs), len(changed))
	if err := k.set.KLBound(bounds, k.some(changed)); err != nil {
		return nil, err
	}
	for i := range k.gs {
		for j, s := range changed {
			k.kl.Data[i*k.kl.Stride+s], k.exact[i*k.kl.Stride+s] = bounds.Data[i*bounds.Stride+j], false
		}
	}
	of, distance := make([]int, len(k.gs)), make([]float64, len(k.gs))
	if k.order == nil {
		k.order = dense.Range(0, len(k.gs))
		for i := range of {
			of[i] = smallest(k.row(i))
		}
		k.sort(of)
	}
	for first := 0; first < len(k.order); first += assignChunk {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := k.settle(k.order[first:min(first+assignChunk, len(k.order))]); err != nil {
			return nil, err
		}
	}
	for i := range of {
		of[i] = smallest(k.row(i))
		distance[i] = k.row(i)[of[i]]
	}
	fillEmpty(of, distance, k.kl.Cols)
	k.sort(of)
	return of, nil
}

// settle computes exact divergences, best first, until the smallest value of
// each of these Gaussians is exact: no bound below it is left. Similar
// Gaussians need the same super-classes.
func (k *means) settle(which []int) error {
	for {
		var wanted []int
		for _, i := range which {
			if s := smallest(k.row(i)); !k.exact[i*k.kl.Stride+s] {
				wanted = append(wanted, s)
			}
		}
		if len(wanted) == 0 {
			return nil
		}
		slices.Sort(wanted)
		wanted = slices.Compact(wanted)
		kl, err := k.set.KLOf(which, k.some(wanted))
		if err != nil {
			return err
		}
		for n, i := range which {
			for j, s := range wanted {
				k.kl.Data[i*k.kl.Stride+s], k.exact[i*k.kl.Stride+s] = kl.Data[n*kl.Stride+j], true
			}
		}
	}
}

func (k *means) row(i int) []float64 { return dense.Row(k.kl, i) }

func (k *means) some(supers []int) []lowrank.Gaussian {
	gs := make([]lowrank.Gaussian, len(supers))
	for i, s := range supers {
		gs[i] = k.supers[s]
	}
	return gs
}

// sort places the Gaussians of a super-class next to each other.
func (k *means) sort(of []int) {
	slices.SortStableFunc(k.order, func(a, b int) int { return of[a] - of[b] })
}

// fillEmpty moves the farthest Gaussians that are not alone into the clusters
// that have none.
func fillEmpty(of []int, distance []float64, size int) {
	count := make([]int, size)
	for _, s := range of {
		count[s]++
	}
	for s := range size {
		if count[s] > 0 {
			continue
		}
		farthest := -1
		for i, v := range distance {
			if count[of[i]] > 1 && (farthest < 0 || v > distance[farthest]) {
				farthest = i
			}
		}
		count[of[farthest]]--
		of[farthest], distance[farthest], count[s] = s, 0, 1
	}
}

// update computes the super-classes that changed (eq. 4.13, 4.14).
func (k *means) update(ctx context.Context, of []int, changed []int) error {
	return dense.ParallelErr(len(changed), func(c int) (err error) {
		if err := ctx.Err(); err != nil {
			return err
		}
		var members []lowrank.Gaussian
		var weights []float64
		for i, s := range of {
			if s == changed[c] {
				members, weights = append(members, k.gs[i]), append(weights, k.weights[i])
			}
		}
		k.supers[changed[c]], err = lowrank.Mixture(members, weights, k.cfg.R, k.mul)
		return err
	})
}

// moved returns the clusters whose members differ.
func moved(before, after []int) []int {
	var changed []int
	for i, s := range after {
		if before[i] != s {
			changed = append(changed, before[i], s)
		}
	}
	slices.Sort(changed)
	return slices.Compact(changed)
}

func weightsOf(of []int, weights []float64, size int) []float64 {
	out := make([]float64, size)
	for i, s := range of {
		out[s] += weights[i]
	}
	return out
}
