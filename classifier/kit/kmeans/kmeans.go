// Package kmeans clusters the rows of a matrix by k-means, seeded by k-means++
// (Arthur and Vassilvitskii 2007).
package kmeans

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// chunk bounds the rows multiplied at a time.
const chunk = 4096

// Config holds the settings of Cluster.
type Config struct {
	// Clusters is their number, at most that of the rows.
	Clusters int
	// Candidates is the number of rows drawn for every seed, of which the one that
	// reduces the squared distances most is taken: 1 for plain k-means++. With more,
	// seeds rarely share a cluster while another has none.
	Candidates int
	// Rounds bounds Lloyd's rounds.
	Rounds int
}

// Cluster returns the cluster, from 0, of every row of x (n×d): Lloyd's rounds until
// nothing moves. A cluster that becomes empty keeps its centre. It stops with an error
// when ctx is cancelled. Cost: O(n·Clusters·d) a round, Candidates times as much for
// the seeds.
func Cluster(ctx context.Context, mul linalg.Backend, x blas32.General, c Config, rng *rand.Rand) ([]int, error) {
	if c.Clusters < 1 || c.Clusters > x.Rows || c.Candidates < 1 || c.Rounds < 1 {
		return nil, fmt.Errorf("k-means of %d rows: %d clusters, %d candidates and %d rounds: each is at least 1, and "+
			"there are at most as many clusters as rows", x.Rows, c.Clusters, c.Candidates, c.Rounds)
	}
	centres, err := seeds(ctx, x, c, rng)
	if err != nil {
		return nil, err
	}
	var of []int
	for range c.Rounds {
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

// seeds draws the first centres.
func seeds(ctx context.Context, x blas32.General, c Config, rng *rand.Rand) (blas64.General, error) {
	centres := dense.New(c.Clusters, x.Cols)
	nearest := slices.Repeat([]float64{math.Inf(1)}, x.Rows)
	trial, best := make([]float64, x.Rows), make([]float64, x.Rows)
	var chosen []int
	for s := range c.Clusters {
		if err := ctx.Err(); err != nil {
			return centres, err
		}
		centre, least, seed := dense.Row(centres, s), math.Inf(1), 0
		for range c.Candidates {
			at := rng.IntN(x.Rows) // also where it is not used: clusters of earlier versions stay as they are
			if s > 0 {
				at = random.Another(rng, nearest, chosen)
			}
			dense.Widen(centre, dense.Row32(x, at))
			dense.Parallel(x.Rows, func(i int) { trial[i] = min(nearest[i], squaredTo(dense.Row32(x, i), centre)) })
			if total := floats.Sum(trial); total < least {
				least, seed = total, at
				trial, best = best, trial
			}
		}
		dense.Widen(centre, dense.Row32(x, seed))
		chosen = append(chosen, seed)
		nearest, best = best, nearest
	}
	return centres, nil
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
	c := blas32.General{Rows: centres.Rows, Cols: centres.Cols, Stride: centres.Stride,
		Data: dense.Narrowed(centres.Data)}
	norms := make([]float64, centres.Rows)
	for i, v := range centres.Data {
		norms[i/centres.Stride] += v * v
	}
	of := make([]int, x.Rows)
	for first := 0; first < x.Rows; first += chunk {
		rows := dense.Rows32(x, first, min(first+chunk, x.Rows))
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
