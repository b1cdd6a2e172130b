package holdout

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/disjoint"
)

const (
	// cut is where the tree of a class is cut, in medians of the distances of its
	// examples.
	cut = 0.7
	// linked is the number of rows that are clustered at once: of a larger class, parts
	// that lie together, so that memory and time grow with n and not with n².
	linked = 128
)

// Groups returns the group of each example of one class, numbered from 0 in the order in
// which they first occur. Photos of one occasion, as far as taken tells (nil if nothing is
// known), are together. The order of the rows makes no difference to what is together, ties
// apart. O(nd(linked + log n)) and a copy of the rows.
func Groups(rows [][]float32, taken []Taken) []int {
	if len(rows) < 2 {
		return Alone(len(rows))
	}
	c := clusters{x: units(rows), limit: math.Inf(-1), sets: disjoint.New(len(rows))}
	first := map[int]int{} // of an occasion
	for i, o := range Occasions(taken) {
		if at, ok := first[o]; ok {
			c.sets.Join(at, i)
		} else {
			first[o] = i
		}
	}
	order := Order(rows)
	if d := c.distances(order[:min(len(order), linked)]); len(d) > 1 {
		c.limit = cut * median(d)
	}
	c.part(order)
	return numbered(c.roots())
}

// units returns rows scaled to length 1.
func units(rows [][]float32) blas32.General {
	x := dense.New32(len(rows), len(rows[0]))
	for i, from := range rows {
		row := vector(dense.Row32(x, i))
		copy(row.Data, from)
		if l := blas32.Nrm2(row); l > 0 {
			blas32.Scal(1/l, row)
		}
	}
	return x
}

func vector(row []float32) blas32.Vector { return blas32.Vector{N: len(row), Data: row, Inc: 1} }

// clusters are the groups of rows so far.
type clusters struct {
	x     blas32.General // of length 1
	limit float64        // the largest distance within a group
	sets  disjoint.Sets
}

// part clusters some rows, in halves that lie together if there are too many.
func (c *clusters) part(some []int) {
	if len(some) > linked {
		near, far := c.halves(some)
		c.part(near)
		c.part(far)
		return
	}
	c.link(some)
}

// halves divides rows by which of two they are nearer to: the one that is farthest from
// the mean of all, and the one that is farthest from that. The widest gap in the middle
// half of them is where they part, so that few groups are cut.
func (c *clusters) halves(some []int) (near, far []int) {
	x := dense.Gather32(c.x, some)
	mean := dense.New32(1, x.Cols)
	for i := range some {
		blas32.Axpy(1/float32(len(some)), vector(dense.Row32(x, i)), vector(mean.Data))
	}
	a := dense.Row32(x, least(products(x, mean.Data)))
	toA := products(x, a)
	toB := products(x, dense.Row32(x, least(toA)))
	order := dense.Range(0, len(some))
	side := func(i int) float32 { return toB[i] - toA[i] }
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(side(i), side(j)) })
	gap := func(i int) float32 { return side(order[i]) - side(order[i-1]) }
	at := len(order) / 2
	for i := len(order)/4 + 1; i < 3*len(order)/4; i++ {
		if gap(i) > gap(at) {
			at = i
		}
	}
	for i, o := range order {
		if i < at {
			near = append(near, some[o])
		} else {
			far = append(far, some[o])
		}
	}
	return near, far
}

// products returns x·v.
func products(x blas32.General, v []float32) []float32 {
	out := make([]float32, x.Rows)
	blas32.Gemv(blas.NoTrans, 1, x, vector(v), 0, vector(out))
	return out
}

func least(v []float32) int {
	at := 0
	for i := range v {
		if v[i] < v[at] {
			at = i
		}
	}
	return at
}

// link clusters a few rows by complete linkage, beginning with those that are together. A
// chain of nearest neighbours finds the pairs that are each other's nearest, which the tree
// joins in any order. O(n²).
func (c *clusters) link(some []int) {
	t := newTree(c.distances(some), len(some))
	first := map[int]int{}
	for i, row := range some {
		if at, ok := first[c.sets.Root(row)]; ok {
			t.merge(at, i)
		} else {
			first[c.sets.Root(row)] = i
		}
	}
	var chain []int
	for t.left > 1 {
		if len(chain) == 0 {
			chain = append(chain, slices.Index(t.alive, true))
		}
		last := chain[len(chain)-1]
		next := nearest(t.of(last), t.alive, last, chain)
		if len(chain) < 2 || next != chain[len(chain)-2] {
			chain = append(chain, next)
			continue
		}
		chain = chain[:len(chain)-2]
		c.join(some[last], some[next], t.of(last)[next])
		t.merge(last, next)
	}
}

// A tree holds the distances between the farthest members of clusters.
type tree struct {
	n, left int
	d       []float64 // n×n
	alive   []bool
}

// newTree returns clusters of one row each; pairs is as of clusters.distances.
func newTree(pairs []float64, n int) *tree {
	return &tree{n: n, left: n, d: matrix(n, pairs), alive: slices.Repeat([]bool{true}, n)}
}

// of returns the distances of a cluster from the others.
func (t *tree) of(i int) []float64 { return t.d[i*t.n : (i+1)*t.n] }

// merge adds the members of one cluster to another.
func (t *tree) merge(into, gone int) {
	t.alive[gone] = false
	t.left--
	for i := range t.n {
		farther := max(t.of(into)[i], t.of(gone)[i])
		t.of(into)[i], t.of(i)[into] = farther, farther
	}
}

// nearest returns the nearest cluster of one; of equals the one before it in the chain.
func nearest(d []float64, alive []bool, own int, chain []int) int {
	at := -1
	if len(chain) > 1 {
		at = chain[len(chain)-2]
	}
	for i, v := range d {
		if alive[i] && i != own && (at < 0 || v < d[at]) {
			at = i
		}
	}
	return at
}

func (c *clusters) join(a, b int, distance float64) {
	if distance <= c.limit || distance == 0 {
		c.sets.Join(a, b)
	}
}

// roots returns a row of the group of each row: the same for all of a group.
func (c *clusters) roots() []int {
	out := make([]int, len(c.sets))
	for i := range out {
		out[i] = c.sets.Root(i)
	}
	return out
}

// numbered numbers groups from 0 in the order in which they first occur.
func numbered(groups []int) []int {
	out, number := make([]int, len(groups)), map[int]int{}
	for i, g := range groups {
		if _, ok := number[g]; !ok {
			number[g] = len(number)
		}
		out[i] = number[g]
	}
	return out
}

// distances returns the distances of all pairs of some rows: of i < j in the order (0, 1),
// (0, 2), …, (1, 2), …
func (c *clusters) distances(some []int) []float64 {
	n, x := len(some), dense.Gather32(c.x, some)
	cosines := dense.New32(n, n)
	blas32.Gemm(blas.NoTrans, blas.Trans, 1, x, x, 0, cosines)
	out := make([]float64, 0, n*(n-1)/2)
	for i := range n {
		for j := i + 1; j < n; j++ {
			square := 2 - 2*float64(cosines.Data[i*n+j])
			if square < nearCopy {
				square = squared(dense.Row32(x, i), dense.Row32(x, j))
			}
			out = append(out, math.Sqrt(max(0, square)))
		}
	}
	return out
}

// nearCopy is the squared distance below which a product in float32 leaves too few digits.
const nearCopy = 0.002

func squared(a, b []float32) (sum float64) {
	for i, v := range a {
		d := float64(v) - float64(b[i])
		sum += d * d
	}
	return sum
}

// matrix returns pairs as a symmetric n×n matrix.
func matrix(n int, pairs []float64) []float64 {
	out, at := make([]float64, n*n), 0
	for i := range n {
		for j := i + 1; j < n; j++ {
			out[i*n+j], out[j*n+i] = pairs[at], pairs[at]
			at++
		}
	}
	return out
}

func median(v []float64) float64 {
	sorted := slices.Sorted(slices.Values(v))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}
