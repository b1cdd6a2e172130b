// Package neighbours finds the rows of a matrix that are near each other, and lays rows out in
// a plane so that those that are near stay near.
package neighbours

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/linalg"
)

const (
	// Most is the most neighbours of a row that Find can find.
	Most = block/2 - 1
	// exact is the most rows of which all pairs are compared.
	exact = 5000
	// block is the most rows that are compared with each other in a tree, trees the number of
	// trees, and rounds how often neighbours of neighbours are looked at.
	block, trees, rounds = 256, 4, 2
	// together is the number of rows of a parallel task.
	together = 256
)

// A Graph has the nearest other rows of each row.
type Graph struct {
	K int // of each row
	// near and squares (n×K) are the rows, nearest first, and their squared distances.
	near    []int32
	squares []float32
}

// Find returns of each row of x (n×d) the k nearest other rows by their Euclidean distance,
// or all others if there are fewer; k is at most Most. Up to 5000 rows it is exact. Of more,
// trees halve the rows along directions between two of them until parts are small enough to
// compare all pairs, and then neighbours of neighbours are looked at (Dong, Moses and Li, WWW
// 2011): rows that are much nearer to each other than to others are found nearly always. It
// depends on seed, and not on the number of cores. done is told the share that is done. Cost:
// O(n·d·(trees·block + rounds·k²)) time, O(n²·d) if it is exact, and 8nk bytes, whatever the rows are. It stops with
// an error when ctx is cancelled.
func Find(
	ctx context.Context, mul linalg.Backend, x blas32.General, k int, seed uint64, done func(share float64),
) (Graph, error) {
	k = max(0, min(k, x.Rows-1, Most))
	f := finder{Graph: Graph{k, slices.Repeat([]int32{-1}, x.Rows*k),
		slices.Repeat([]float32{float32(math.Inf(1))}, x.Rows*k)}, mul: mul, x: x, norms: make([]float32, x.Rows),
		along: make([]float32, x.Rows)}
	for i := range f.norms {
		f.norms[i] = blas32.Dot(f.row(i), f.row(i))
	}
	if x.Rows <= exact {
		err := each(ctx, (x.Rows+block-1)/block, 1, func(b int) error {
			return f.compareAll(b*block, min((b+1)*block, x.Rows))
		})
		done(1)
		return f.Graph, err
	}
	steps := trees + rounds
	for step := range steps {
		var err error
		if step < trees {
			parts := f.tree(seed, step)
			err = each(ctx, len(parts), 1, func(p int) error { return f.compare(parts[p]) })
		} else {
			last := Graph{k, slices.Clone(f.near), slices.Clone(f.squares)}
			err = each(ctx, x.Rows, together, func(i int) error { return f.refine(last, i) })
		}
		if err != nil {
			return Graph{}, err
		}
		done(float64(step+1) / float64(steps))
	}
	return f.Graph, nil
}

// Of returns the neighbours of row i, nearest first, and their squared distances.
func (g Graph) Of(i int) (rows []int32, squares []float32) {
	return g.near[i*g.K : (i+1)*g.K], g.squares[i*g.K : (i+1)*g.K]
}

// each calls do for 0 to n−1, some of them in one task, until one fails or ctx is cancelled.
func each(ctx context.Context, n, some int, do func(i int) error) error {
	return dense.ParallelErr((n+some-1)/some, func(task int) error {
		for i := task * some; i < min(n, (task+1)*some); i++ {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err := do(i); err != nil {
				return err
			}
		}
		return nil
	})
}

// A finder looks for the neighbours of the rows of x.
type finder struct {
	Graph
	mul   linalg.Backend
	x     blas32.General
	norms []float32 // squared lengths
	along []float32 // the direction by which a part was halved last
}

func (f *finder) row(i int) blas32.Vector {
	return blas32.Vector{N: f.x.Cols, Inc: 1, Data: dense.Row32(f.x, i)}
}

// tree divides the rows into parts of block/2 to block rows, if there are so many.
func (f *finder) tree(seed uint64, number int) [][]int {
	parts := [][]int{dense.Range(0, f.x.Rows)}
	for level := 0; len(parts[0]) > block; level++ { // parts differ by one row at most
		halves := make([][]int, 2*len(parts))
		dense.Parallel(len(parts), func(p int) {
			rng := random.Stream(seed, "neighbours/tree", number, level, p)
			rows := parts[p]
			f.project(rows, rows[rng.IntN(len(rows))], rows[rng.IntN(len(rows))])
			// Equal rows are with others in every tree.
			rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
			slices.SortFunc(rows, func(i, j int) int { return cmp.Compare(f.along[i], f.along[j]) })
			half := (len(rows) + 1) / 2
			halves[2*p], halves[2*p+1] = rows[:half], rows[half:]
		})
		parts = halves
	}
	return parts
}

// project computes how far some rows lie along the direction between two of them.
func (f *finder) project(rows []int, from, to int) {
	way := blas32.Vector{N: f.x.Cols, Inc: 1, Data: slices.Clone(f.row(to).Data)}
	blas32.Axpy(-1, f.row(from), way)
	for _, i := range rows {
		f.along[i] = blas32.Dot(way, f.row(i))
	}
}

// compareAll compares the rows first to last-1 with all.
func (f *finder) compareAll(first, last int) error {
	products := dense.New32(last-first, f.x.Rows)
	if err := f.mul.Mul32(products, dense.Rows32(f.x, first, last), f.x); err != nil {
		return err
	}
	for i := first; i < last; i++ {
		for j, product := range dense.Row32(products, i-first) {
			if j != i {
				f.offer(i, j, product)
			}
		}
	}
	return nil
}

// compare compares all pairs of some rows.
func (f *finder) compare(rows []int) error {
	x, products := dense.Gather32(f.x, rows), dense.New32(len(rows), len(rows))
	if err := f.mul.Mul32(products, x, x); err != nil {
		return err
	}
	for a, i := range rows {
		for b, product := range dense.Row32(products, a) {
			if a != b {
				f.offer(i, rows[b], product)
			}
		}
	}
	return nil
}

// refine looks at the neighbours of the neighbours that row i had.
func (f *finder) refine(last Graph, i int) error {
	near, _ := last.Of(i)
	for _, j := range near {
		others, _ := last.Of(int(j))
		for _, o := range others {
			if int(o) != i {
				f.offer(i, int(o), blas32.Dot(f.row(i), f.row(int(o))))
			}
		}
	}
	return nil
}

// offer takes row j as a neighbour of i if it is nearer than those that there are.
func (f *finder) offer(i, j int, product float32) {
	square := max(0, f.norms[i]+f.norms[j]-2*product)
	near, squares := f.Of(i)
	at := f.K
	for at > 0 && (square < squares[at-1] || square == squares[at-1] && int32(j) < near[at-1]) {
		at--
	}
	if at == f.K || slices.Contains(near, int32(j)) {
		return
	}
	copy(near[at+1:], near[at:])
	copy(squares[at+1:], squares[at:])
	near[at], squares[at] = int32(j), square
}
