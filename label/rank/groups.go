package rank

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// minSilhouette is the smallest mean silhouette of a useful division; below it
// all rows form one group.
const minSilhouette = 0.1

// Groups divides the rows of x (n×d) into at most most groups of at least least
// rows each, and returns the rows of each, the largest group first. Rows of
// smaller clusters are in no group. Cost: O(n²d) for the distances, O(n²)
// memory.
func Groups(x blas32.General, most, least int) ([][]int, error) {
	for i := range x.Rows {
		for _, v := range dense.Row32(x, i) {
			if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
				return nil, fmt.Errorf("group images: row %d has the value %v", i, v)
			}
		}
	}
	if x.Rows == 0 {
		return nil, nil
	}
	distance := cosineDistances(x)
	merges := averageLinkage(distance)
	best, bestValue := make([]int, x.Rows), minSilhouette
	cuts(x.Rows, merges, most, least, func(label []int) {
		if s := silhouette(distance, label); s > bestValue {
			best, bestValue = slices.Clone(label), s
		}
	})
	return collect(best, least), nil
}

// collect turns labels into groups; equal sizes keep the order of their first
// rows.
func collect(label []int, least int) [][]int {
	column, size := numbered(label)
	groups := make([][]int, len(size))
	for i, c := range column {
		groups[c] = append(groups[c], i)
	}
	groups = slices.DeleteFunc(groups, func(g []int) bool { return len(g) < least })
	slices.SortStableFunc(groups, func(a, b []int) int { return cmp.Compare(len(b), len(a)) })
	return groups
}

// numbered numbers the labels in the order in which they occur, and counts each.
func numbered(label []int) (column, size []int) {
	index := map[int]int{}
	for _, l := range label {
		c, known := index[l]
		if !known {
			c = len(size)
			index[l] = c
			size = append(size, 0)
		}
		column = append(column, c)
		size[c]++
	}
	return column, size
}

// A square is an n×n matrix of distances.
type square struct {
	n int
	v []float32
}

func (s square) at(i, j int) float64 { return float64(s.v[i*s.n+j]) }

// cosineDistances returns 1 − cosine for all pairs; a zero row is at distance 1
// from every other.
func cosineDistances(x blas32.General) square {
	n := x.Rows
	unit := dense.New32(n, x.Cols)
	for i := range n {
		row := dense.Row32(x, i)
		norm := blas32.Nrm2(blas32.Vector{N: x.Cols, Inc: 1, Data: row})
		for j, v := range row {
			if norm > 0 {
				unit.Data[i*x.Cols+j] = v / norm
			}
		}
	}
	s := square{n, make([]float32, n*n)}
	blas32.Gemm(blas.NoTrans, blas.Trans, -1, unit, unit, 0, blas32.General{Rows: n, Cols: n, Stride: n, Data: s.v})
	for i := range n {
		for j := range n {
			s.v[i*n+j] = max(0, 1+s.v[i*n+j])
		}
		s.v[i*n+i] = 0
	}
	return s
}

// A merge joins two clusters, each named by its lowest row.
type merge struct {
	a, b     int // a < b; the result is a
	distance float64
}

// averageLinkage returns the n−1 merges of the hierarchy, nearest first, using
// nearest-neighbour chains (Murtagh 1983). The distance between clusters is the
// mean over pairs (Lance and Williams).
func averageLinkage(distance square) []merge {
	n := distance.n
	d := square{n, slices.Clone(distance.v)}
	size := make([]int, n)
	for i := range size {
		size[i] = 1
	}
	var chain []int
	var merges []merge
	for len(merges) < n-1 {
		if len(chain) == 0 {
			chain = append(chain, slices.IndexFunc(size, func(s int) bool { return s > 0 }))
		}
		last := chain[len(chain)-1]
		near := nearest(d, size, chain)
		if len(chain) < 2 || near != chain[len(chain)-2] {
			chain = append(chain, near)
			continue
		}
		chain = chain[:len(chain)-2]
		a, b := min(last, near), max(last, near)
		merges = append(merges, merge{a, b, d.at(a, b)})
		join(d, size, a, b)
	}
	slices.SortStableFunc(merges, func(p, q merge) int { return cmp.Compare(p.distance, q.distance) })
	return merges
}

// nearest returns the live cluster closest to the end of the chain. Ties go to
// the chain's previous cluster, so that the chain ends.
func nearest(d square, size, chain []int) int {
	last := chain[len(chain)-1]
	best, at := math.Inf(1), -1
	if len(chain) > 1 {
		at = chain[len(chain)-2]
		best = d.at(last, at)
	}
	for j, s := range size {
		if s > 0 && j != last && (at < 0 || d.at(last, j) < best) {
			best, at = d.at(last, j), j
		}
	}
	return at
}

// join replaces a by the union of a and b.
func join(d square, size []int, a, b int) {
	na, nb := float64(size[a]), float64(size[b])
	for j, s := range size {
		if s > 0 && j != a && j != b {
			v := float32((na*d.at(a, j) + nb*d.at(b, j)) / (na + nb))
			d.v[a*d.n+j], d.v[j*d.n+a] = v, v
		}
	}
	size[a] += size[b]
	size[b] = 0
}

// cuts calls try with the labels of divisions that have two to most groups of
// at least least rows; smaller clusters do not count as groups. Of successive
// divisions into the same number of groups it takes the last, which leaves out
// the fewest rows.
func cuts(n int, merges []merge, most, least int, try func(label []int)) {
	label, size := make([]int, n), make([]int, n)
	members := make([][]int, n)
	for i := range label {
		label[i], size[i], members[i] = i, 1, []int{i}
	}
	groups := 0
	if least == 1 {
		groups = n
	}
	for _, m := range merges {
		a, b := label[m.a], label[m.b]
		next := groups
		for _, s := range []int{size[a], size[b]} {
			if s >= least {
				next--
			}
		}
		if size[a]+size[b] >= least {
			next++
		}
		if next != groups && groups >= 2 && groups <= most {
			try(label)
		}
		groups = next
		for _, i := range members[b] {
			label[i] = a
		}
		members[a], members[b] = append(members[a], members[b]...), nil
		size[a] += size[b]
	}
}

// silhouette returns the mean over rows of (b − a)/max(a, b), a being the mean
// distance to the row's own cluster and b that to the nearest other one; a row
// alone in its cluster counts 0.
func silhouette(distance square, label []int) float64 {
	n := distance.n
	column, size := numbered(label)
	total, sums := 0.0, make([]float64, len(size))
	for i := range n {
		if size[column[i]] == 1 {
			continue
		}
		clear(sums)
		for j := range n {
			sums[column[j]] += distance.at(i, j)
		}
		own, other := 0.0, math.Inf(1)
		for c, s := range sums {
			if c == column[i] {
				own = s / float64(size[c]-1)
			} else {
				other = min(other, s/float64(size[c]))
			}
		}
		if m := max(own, other); m > 0 && !math.IsInf(other, 1) {
			total += (other - own) / m
		}
	}
	return total / float64(n)
}
