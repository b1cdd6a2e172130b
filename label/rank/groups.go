package rank

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// discount is the part of an independent observation that every image counts
// as. Images of a class come in kinds, and are not independent as the model
// assumes; with 1 the groups would be kinds (docs/results compares). Speaker diarisation does the same
// (F_A of VBx, Landini et al. 2022).
const discount = 0.5

// Groups divides rows into classes that nobody has named, and returns the rows
// of each class, in the order of their first rows. Rows z (n×d) are whitened in
// sp. The pair of clusters that are most probably one class is merged, until all
// are more probably two. It stops with an error when ctx is cancelled. Cost:
// O(n²(r+d)) time, 4n² bytes.
func Groups(ctx context.Context, sp *gauss.Space, z blas64.General) ([][]int, error) {
	m, err := merged(ctx, sp, z, nil)
	if err != nil {
		return nil, err
	}
	groups := slices.DeleteFunc(m.members, func(g []int) bool { return g == nil })
	for _, g := range groups {
		slices.Sort(g)
	}
	slices.SortFunc(groups, slices.Compare)
	return groups, nil
}

// A merging is the state of agglomerative clustering.
type merging struct {
	sp      *gauss.Space
	named   int            // the first clusters, which are classes: no two of them become one
	members [][]int        // nil for clusters that were merged into another
	sums    blas64.General // discounted coordinates of the members
	own     []float64      // evidence that a cluster is one class
	gain    []float32      // n×n: evidence that two clusters are one class, not two
	best    []int          // the cluster of the largest gain, −1 for none
	bySize  []evidence
}

// evidence is that of clusters of one size.
type evidence struct {
	weights  []float64
	constant float64
}

// merged begins as newMerging does, and merges until all clusters are more probably several classes.
func merged(ctx context.Context, sp *gauss.Space, z blas64.General, named [][]int) (*merging, error) {
	m, err := newMerging(sp, z, named)
	if err != nil {
		return nil, err
	}
	return m, m.all(ctx)
}

// newMerging begins with the examples of each named class as one cluster, and with every other row of z as one.
func newMerging(sp *gauss.Space, z blas64.General, named [][]int) (*merging, error) {
	members := slices.Clone(named)
	of := make([]bool, z.Rows)
	for _, rows := range named {
		for _, i := range rows {
			of[i] = true
		}
	}
	for i := range of {
		if !of[i] {
			members = append(members, []int{i})
		}
	}
	n := len(members)
	m := &merging{sp: sp, named: len(named), members: members, own: make([]float64, n), gain: make([]float32, n*n),
		best: make([]int, n), bySize: make([]evidence, z.Rows+1)}
	x, err := sp.Coordinates(z)
	if err != nil || n == 0 {
		return m, err
	}
	m.sums = dense.New(n, x.Cols)
	for a, rows := range members {
		for _, i := range rows {
			blas64.Axpy(discount, dense.Vector(dense.Row(x, i)), dense.Vector(dense.Row(m.sums, a)))
		}
		m.prepareFor(a)
		m.own[a] = m.alone(a)
	}
	dense.Parallel(n, func(i int) {
		for j := range i {
			m.compare(i, j)
		}
	})
	dense.Parallel(n, func(i int) { m.best[i] = m.nearest(i) })
	return m, nil
}

// all merges until all clusters are more probably several classes.
func (m *merging) all(ctx context.Context) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		a := m.next()
		if a < 0 || m.at(a, m.best[a]) <= 0 {
			return nil
		}
		m.merge(min(a, m.best[a]), max(a, m.best[a])) // a class stays where it is
	}
}

func (m *merging) at(a, b int) float32 { return m.gain[a*len(m.members)+b] }

// prepare computes the evidence of clusters of n rows.
func (m *merging) prepare(n int) {
	if m.bySize[n].weights == nil {
		w, c := m.sp.Evidence(discount * float64(n))
		m.bySize[n] = evidence{w, c}
	}
}

// prepareFor computes the evidence of clusters of as many rows as a has, alone and with any other.
func (m *merging) prepareFor(a int) {
	m.prepare(len(m.members[a]))
	for j, members := range m.members {
		if members != nil && j != a {
			m.prepare(len(m.members[a]) + len(members))
		}
	}
}

// alone returns the evidence that cluster a is one class.
func (m *merging) alone(a int) float64 {
	e := m.bySize[len(m.members[a])]
	total := -e.constant
	for j, s := range dense.Row(m.sums, a) {
		total += e.weights[j] * s * s
	}
	return total
}

// compare computes the gain of merging a and b.
func (m *merging) compare(a, b int) {
	n := len(m.members)
	if a < m.named && b < m.named {
		m.gain[a*n+b], m.gain[b*n+a] = float32(math.Inf(-1)), float32(math.Inf(-1))
		return
	}
	e, other := m.bySize[len(m.members[a])+len(m.members[b])], dense.Row(m.sums, b)
	total := -e.constant - m.own[a] - m.own[b]
	for j, s := range dense.Row(m.sums, a) {
		s += other[j]
		total += e.weights[j] * s * s
	}
	m.gain[a*n+b], m.gain[b*n+a] = float32(total), float32(total)
}

// nearest returns the cluster whose merging with a gains most.
func (m *merging) nearest(a int) int {
	best := -1
	for j, members := range m.members {
		if j != a && members != nil && (best < 0 || m.at(a, j) > m.at(a, best)) {
			best = j
		}
	}
	return best
}

// next returns the cluster to merge with its best, −1 if one is left.
func (m *merging) next() int {
	next := -1
	for a, b := range m.best {
		if m.members[a] != nil && b >= 0 && (next < 0 || m.at(a, b) > m.at(next, m.best[next])) {
			next = a
		}
	}
	return next
}

// merge replaces a by the union of a and b.
func (m *merging) merge(a, b int) {
	blas64.Axpy(1, dense.Vector(dense.Row(m.sums, b)), dense.Vector(dense.Row(m.sums, a)))
	m.members[a], m.members[b] = append(m.members[a], m.members[b]...), nil
	m.own[a] = m.alone(a)
	m.prepareFor(a)
	const block = 64
	n := len(m.members)
	dense.Parallel((n+block-1)/block, func(k int) {
		for j := k * block; j < min(n, (k+1)*block); j++ {
			if j != a && m.members[j] != nil {
				m.compare(a, j)
			}
		}
	})
	// Of a pair, the cluster that was updated last knows the gain.
	for j, members := range m.members {
		if members != nil && (m.best[j] == a || m.best[j] == b) {
			m.best[j] = m.nearest(j)
		}
	}
}

// SameShot is the cosine from which two images count as near-duplicates. On
// Caltech-101 (built-in backbone, ViT-Tiny), 71 to 100 per cent of copies that
// were saved again as JPEG, scaled to 70 per cent or brightened reach it, and of
// 499 500 pairs of photos one and five: a picture that is there twice, and
// Leopards, some of which are there mirrored.
const SameShot = 0.97

// Duplicates finds near-duplicates among the rows of x (n×d), by SameShot: firsts are the
// rows that are none of an earlier row, copies the near-duplicates of each of these. It stops
// with an error when ctx is cancelled. O(n²d).
func Duplicates(ctx context.Context, x blas32.General) (copies map[int][]int, firsts []int, err error) {
	copies = map[int][]int{}
	norm := make([]float32, x.Rows)
	for i := range x.Rows {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		norm[i] = blas32.Nrm2(vector(x, i))
		at := slices.IndexFunc(firsts, func(j int) bool {
			return norm[i] > 0 && blas32.Dot(vector(x, i), vector(x, j)) >= SameShot*norm[i]*norm[j]
		})
		if at < 0 {
			firsts = append(firsts, i)
		} else {
			copies[firsts[at]] = append(copies[firsts[at]], i)
		}
	}
	return copies, firsts, nil
}

// vector returns row i of x as BLAS takes it, sharing memory.
func vector(x blas32.General, i int) blas32.Vector {
	return blas32.Vector{N: x.Cols, Inc: 1, Data: dense.Row32(x, i)}
}
