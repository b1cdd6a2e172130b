package holdout

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/internal/dense"
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
// which they first occur. The order of the rows makes no difference to what is together,
// ties apart. O(n·linked·d) and the copy of at most linked rows.
func Groups(rows [][]float32) []int {
	c := clusters{rows: rows, limit: math.Inf(-1), parent: dense.Range(0, len(rows))}
	order := Order(rows)
	sample := order[:min(len(order), linked)]
	if d := distances(rows, sample); len(d) > 1 {
		c.limit = cut * median(d)
	}
	c.part(order)
	return c.numbered()
}

// clusters are the groups of rows so far, as a forest of parents.
type clusters struct {
	rows   [][]float32
	limit  float64 // the largest distance within a group
	parent []int
}

// part clusters some rows, in halves that lie together if there are too many.
func (c *clusters) part(some []int) {
	for len(some) > linked {
		near, far := c.halves(some)
		c.part(near)
		some = far
	}
	c.link(some)
}

// halves divides rows by which of two they are nearer to: the one that is farthest from
// the mean of all, and the one that is farthest from that. The widest gap in the middle
// half of them is where they part, so that few groups are cut.
func (c *clusters) halves(some []int) (near, far []int) {
	a := c.farthest(some, c.mean(some))
	b := c.farthest(some, c.rows[a])
	type place struct {
		row  int
		side float64
	}
	places := make([]place, len(some))
	for i, r := range some {
		places[i] = place{r, cosine(c.rows[r], c.rows[b]) - cosine(c.rows[r], c.rows[a])}
	}
	slices.SortStableFunc(places, func(x, y place) int { return cmp.Compare(x.side, y.side) })
	at := len(places) / 2
	for i := len(places)/4 + 1; i < 3*len(places)/4; i++ {
		if places[i].side-places[i-1].side > places[at].side-places[at-1].side {
			at = i
		}
	}
	for _, p := range places[:at] {
		near = append(near, p.row)
	}
	for _, p := range places[at:] {
		far = append(far, p.row)
	}
	return near, far
}

// mean returns the mean of rows scaled to length 1.
func (c *clusters) mean(some []int) []float32 {
	sum := make([]float32, len(c.rows[some[0]]))
	for _, r := range some {
		row := blas32.Vector{N: len(sum), Data: c.rows[r], Inc: 1}
		if l := blas32.Nrm2(row); l > 0 {
			blas32.Axpy(1/l/float32(len(some)), row, blas32.Vector{N: len(sum), Data: sum, Inc: 1})
		}
	}
	return sum
}

func (c *clusters) farthest(some []int, from []float32) int {
	best, at := math.Inf(1), some[0]
	for _, r := range some {
		if v := cosine(c.rows[r], from); v < best {
			best, at = v, r
		}
	}
	return at
}

// link clusters a few rows by complete linkage. A chain of nearest neighbours finds the
// pairs that are each other's nearest, which the tree joins in any order. O(n²).
func (c *clusters) link(some []int) {
	n := len(some)
	d := matrix(n, distances(c.rows, some))
	alive, chain := slices.Repeat([]bool{true}, n), []int(nil)
	for left := n; left > 1; {
		if len(chain) == 0 {
			chain = append(chain, slices.Index(alive, true))
		}
		last := chain[len(chain)-1]
		next := nearest(d[last*n:(last+1)*n], alive, last, chain)
		if len(chain) < 2 || next != chain[len(chain)-2] {
			chain = append(chain, next)
			continue
		}
		chain = chain[:len(chain)-2]
		c.join(some[last], some[next], d[last*n+next])
		alive[next] = false
		left--
		for i := range n {
			farther := max(d[last*n+i], d[next*n+i])
			d[last*n+i], d[i*n+last] = farther, farther
		}
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
		c.parent[c.root(b)] = c.root(a)
	}
}

func (c *clusters) root(i int) int {
	for c.parent[i] != i {
		i = c.parent[i]
	}
	return i
}

func (c *clusters) numbered() []int {
	out, number := make([]int, len(c.rows)), map[int]int{}
	for i := range out {
		root := c.root(i)
		if _, ok := number[root]; !ok {
			number[root] = len(number)
		}
		out[i] = number[root]
	}
	return out
}

// distances returns the distances of all pairs of some rows, scaled to length 1: of i < j
// in the order (0, 1), (0, 2), …, (1, 2), …
func distances(rows [][]float32, some []int) []float64 {
	n := len(some)
	if n < 2 {
		return nil
	}
	x := dense.New32(n, len(rows[some[0]]))
	for i, r := range some {
		row := dense.Row32(x, i)
		copy(row, rows[r])
		if l := blas32.Nrm2(blas32.Vector{N: len(row), Data: row, Inc: 1}); l > 0 {
			blas32.Scal(1/l, blas32.Vector{N: len(row), Data: row, Inc: 1})
		}
	}
	products := dense.New32(n, n)
	blas32.Gemm(blas.NoTrans, blas.Trans, 1, x, x, 0, products)
	out := make([]float64, 0, n*(n-1)/2)
	for i := range n {
		for j := i + 1; j < n; j++ {
			v := float64(products.Data[i*n+j])
			if v > nearCopy {
				v = 1 - squared(dense.Row32(x, i), dense.Row32(x, j))/2
			}
			out = append(out, math.Sqrt(max(0, 2-2*v)))
		}
	}
	return out
}

// nearCopy is the cosine above which float32 leaves too few digits of a distance.
const nearCopy = 0.999

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

func cosine(a, b []float32) float64 {
	va, vb := blas32.Vector{N: len(a), Data: a, Inc: 1}, blas32.Vector{N: len(b), Data: b, Inc: 1}
	l := float64(blas32.Nrm2(va)) * float64(blas32.Nrm2(vb))
	if l == 0 {
		return 0
	}
	return blas32.DDot(va, vb) / l
}

func median(v []float64) float64 {
	sorted := slices.Sorted(slices.Values(v))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}
