package neighbours

import (
	"context"
	"math"

	"github.com/seed-90d10d51/pipeline/internal/random"
)

const (
	// pushed is the number of rows that push a row away for each that attracts it.
	pushed = 5
	// extent is how far the first places reach from the middle, in distances at which
	// neighbours settle.
	extent = 10
	// step bounds how far a row moves at a time.
	step = 4
	// jitter parts rows that begin at the same place.
	jitter = 1e-3
	// near bounds the force between two rows at the same place.
	near = 1e-3
)

// epochs is the number of times that every row is moved.
func epochs(n int) int {
	const few, many, large = 200, 100, 10_000
	if n > large {
		return many
	}
	return few
}

// Layout returns places (n×2) in which the rows of the graph are near their neighbours,
// beginning with other places (n×2), such as principal components. A row is attracted by its
// neighbours and pushed away by rows drawn at random, as in UMAP (McInnes, Healy and Melville
// 2018), but with the forces of 1/(1 + r²) and without weights, which hardly change its places
// (Damrich and Hamprecht, NeurIPS 2021). It depends on seed, and not on the number of cores.
// done is told the share that is done. If all begin at one place they stay there. Cost:
// O(epochs·n·K·pushed), on one core. It stops with an error when ctx is cancelled.
func (g Graph) Layout(ctx context.Context, from []float32, seed uint64, done func(share float64)) ([]float32, error) {
	rng := random.Stream(seed, "neighbours/layout")
	at, ok := spread(from)
	if !ok {
		return make([]float32, len(from)), nil
	}
	for i := range at {
		at[i] = at[i].plus(jitter, point{float32(rng.NormFloat64()), float32(rng.NormFloat64())})
	}
	n := uint64(len(at))
	total := epochs(int(n))
	for epoch := range total {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rate := 1 - float32(epoch)/float32(total)
		for i := range int(n) {
			a := at[i]
			others, _ := g.Of(i)
			for _, j := range others {
				move := attraction(a, at[j])
				a, at[j] = a.plus(rate, move), at[j].plus(-rate, move)
				for range pushed {
					o := (rng.Uint64() >> 32) * n >> 32 // n is less than 2^32
					if o != uint64(i) {
						a = a.plus(rate, repulsion(a, at[o]))
					}
				}
			}
			at[i] = a
		}
		done(float64(epoch+1) / float64(total))
	}
	places := make([]float32, 0, len(from))
	for _, p := range at {
		places = append(places, p.x, p.y)
	}
	return places, nil
}

// A point is a place in the plane, or a move.
type point struct{ x, y float32 }

func (p point) plus(times float32, move point) point {
	return point{p.x + times*move.x, p.y + times*move.y}
}

// spread returns places around the middle of all, the farthest of which are extent away along
// one axis; false if all are at one place.
func spread(from []float32) (at []point, ok bool) {
	low, high := point{math.MaxFloat32, math.MaxFloat32}, point{-math.MaxFloat32, -math.MaxFloat32}
	at = make([]point, len(from)/2)
	for i := range at {
		at[i] = point{from[2*i], from[2*i+1]}
		low = point{min(low.x, at[i].x), min(low.y, at[i].y)}
		high = point{max(high.x, at[i].x), max(high.y, at[i].y)}
	}
	most := max(high.x-low.x, high.y-low.y) / 2
	for i, p := range at {
		at[i] = point{extent * (p.x - (low.x+high.x)/2) / most, extent * (p.y - (low.y+high.y)/2) / most}
	}
	return at, most > 0
}

// attraction is how a moves towards b, along the gradient of log(1/(1 + r²)).
func attraction(a, b point) point {
	x, y := a.x-b.x, a.y-b.y
	return force(x, y, -2/(1+x*x+y*y))
}

// repulsion is how a moves away from b, along the gradient of log(1 − 1/(1 + r²)).
func repulsion(a, b point) point {
	x, y := a.x-b.x, a.y-b.y
	r := x*x + y*y
	return force(x, y, 2/((near+r)*(1+r)))
}

// force returns a move in a direction, no longer than step along an axis.
func force(x, y, times float32) point { return point{bounded(times * x), bounded(times * y)} }

// bounded is faster than min and max, which look for NaN.
func bounded(v float32) float32 {
	if v > step {
		return step
	}
	if v < -step {
		return -step
	}
	return v
}
