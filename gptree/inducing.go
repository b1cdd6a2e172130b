package gptree

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier/kit/exemplars"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/random"
)

// inducingIterations bounds Lloyd's iterations for inducing inputs.
const inducingIterations = 30

// inducing returns at most count inducing inputs of a class (§3.3): the centres
// of k-means seeded by k-means++, or all distinct rows if there are few. If unit,
// rows are first scaled to length 1.
func inducing(rows exemplars.Rows, d, count int, unit bool, rng *rand.Rand) [][]float32 {
	distinct := slices.CompactFunc(slices.Clone(rows),
		func(a, b []float32) bool { return exemplars.Compare(a, b) == 0 })
	if len(distinct) <= count {
		return distinct
	}
	x := rows.Matrix(d, unit)
	centres := seedCentres(x, count, rng)
	owner := make([]int, x.Rows)
	for range inducingIterations {
		if !assignNearest(owner, x, centres) {
			break
		}
		moveCentres(centres, x, owner)
	}
	out := make([][]float32, count)
	for i := range out {
		out[i] = dense.Narrowed(dense.Row(centres, i))
	}
	slices.SortFunc(out, exemplars.Compare)
	return out
}

// seedCentres draws rows of x by k-means++: each with a probability proportional
// to its squared distance from the nearest row already drawn.
func seedCentres(x blas64.General, count int, rng *rand.Rand) blas64.General {
	centres := dense.New(count, x.Cols)
	copy(dense.Row(centres, 0), dense.Row(x, rng.IntN(x.Rows)))
	nearest := make([]float64, x.Rows)
	for i := range nearest {
		nearest[i] = dense.SquaredDistance(dense.Row(x, i), dense.Row(centres, 0))
	}
	for c := 1; c < count; c++ {
		copy(dense.Row(centres, c), dense.Row(x, max(0, random.Weighted(rng, nearest))))
		for i := range nearest {
			nearest[i] = min(nearest[i], dense.SquaredDistance(dense.Row(x, i), dense.Row(centres, c)))
		}
	}
	return centres
}

// assignNearest assigns every row to its nearest centre, the first in a tie, and
// reports whether anything changed.
func assignNearest(owner []int, x, centres blas64.General) bool {
	var changed bool
	for i := range owner {
		best, least := 0, dense.SquaredDistance(dense.Row(x, i), dense.Row(centres, 0))
		for c := 1; c < centres.Rows; c++ {
			if sq := dense.SquaredDistance(dense.Row(x, i), dense.Row(centres, c)); sq < least {
				best, least = c, sq
			}
		}
		changed = changed || owner[i] != best
		owner[i] = best
	}
	return changed
}

// moveCentres moves every centre to the mean of its rows; a centre without rows
// stays.
func moveCentres(centres, x blas64.General, owner []int) {
	count := make([]float64, centres.Rows)
	for _, c := range owner {
		count[c]++
	}
	for c, n := range count {
		if n > 0 {
			clear(dense.Row(centres, c))
		}
	}
	for i, c := range owner {
		blas64.Axpy(1/count[c], dense.Vector(dense.Row(x, i)), dense.Vector(dense.Row(centres, c)))
	}
}
