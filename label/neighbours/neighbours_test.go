package neighbours_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/label/neighbours"
	"github.com/seed-90d10d51/pipeline/linalg"
)

func silent(float64) {}

// heaps draws n rows of d values around centres.
func heaps(n, d, centres int, spread float64) blas32.General {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	middle, x := make([]float64, centres*d), dense.New32(n, d)
	for i := range middle {
		middle[i] = rng.NormFloat64()
	}
	for i := range x.Data {
		x.Data[i] = float32(middle[i/d%centres*d+i%d] + spread*rng.NormFloat64())
	}
	return x
}

// order returns the other rows of x, the nearest to row i first.
func order(x blas32.General, i int) []int {
	square := make([]float64, x.Rows)
	for j := range square {
		for k, v := range dense.Row32(x, j) {
			e := float64(v) - float64(x.Data[i*x.Stride+k])
			square[j] += e * e
		}
	}
	rows := slices.DeleteFunc(dense.Range(0, x.Rows), func(j int) bool { return j == i })
	slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(square[a], square[b]) })
	return rows
}

// found is the share of the k nearest rows that a graph has, of some of the rows.
func found(x blas32.General, g neighbours.Graph, k int) float64 {
	hits, looked := 0, 0
	for i := 0; i < x.Rows; i += 1 + x.Rows/400 {
		near, _ := g.Of(i)
		for _, j := range order(x, i)[:k] {
			looked++
			if slices.Contains(near, int32(j)) {
				hits++
			}
		}
	}
	return float64(hits) / float64(looked)
}

func find(t testing.TB, x blas32.General, k int) neighbours.Graph {
	t.Helper()
	return must.Get(neighbours.Find(context.Background(), linalg.Backend{}, x, k, 1, silent))(t)
}

// Few rows have exactly their nearest rows, and many nearly all of them; always k different
// ones, the nearest first.
func TestFind(t *testing.T) {
	for _, c := range []struct {
		n    int
		want float64
	}{{2, 1}, {5, 1}, {257, 1}, {1500, 1}, {5200, 0.97}} {
		x := heaps(c.n, 24, 40, 0.5)
		k := min(15, c.n-1)
		g := find(t, x, 15)
		if got := found(x, g, k); g.K != k || got < c.want {
			t.Errorf("%d rows: %.4f of the %d nearest are found, want %g", c.n, got, g.K, c.want)
		}
		for i := range c.n {
			near, squares := g.Of(i)
			if slices.Contains(near, int32(i)) || slices.Contains(near, -1) || !slices.IsSorted(squares) {
				t.Fatalf("row %d has %v, %v", i, near, squares)
			}
			if slices.Sort(near); len(slices.Compact(near)) != k {
				t.Fatalf("row %d has %v", i, near)
			}
		}
	}
}

// Rows that are all the same, or none, are no exception.
func TestFindAmongEqualRows(t *testing.T) {
	for _, n := range []int{0, 1, 2, 1000} {
		g := find(t, dense.New32(n, 3), 15)
		for i := range n {
			if near, _ := g.Of(i); len(near) != min(15, n-1) || slices.Contains(near, -1) {
				t.Fatalf("%d rows: %v", n, near)
			}
		}
		places, err := g.Layout(context.Background(), make([]float32, 2*n), 1, silent)
		if err != nil || len(places) != 2*n || slices.ContainsFunc(places, func(v float32) bool { return v != 0 }) {
			t.Fatalf("%d rows: %v, %v", n, places, err)
		}
	}
}

// trust is the trustworthiness of places with k neighbours (Venna and Kaski 2001): 1 minus how
// far those who are neighbours in the plane were from being neighbours, 1 for none.
func trust(x, places blas32.General, k int) float64 {
	n, penalty := x.Rows, 0
	for i := range n {
		rank := make([]int, n)
		for at, j := range order(x, i) {
			rank[j] = at + 1
		}
		for _, j := range order(places, i)[:k] {
			penalty += max(0, rank[j]-k)
		}
	}
	return 1 - 2*float64(penalty)/float64(n*k*(2*n-3*k-1))
}

// principal returns the first two principal components.
func principal(t *testing.T, x blas32.General) []float32 {
	t.Helper()
	wide := mat.NewDense(x.Rows, x.Cols, nil)
	for i, v := range x.Data {
		wide.Set(i/x.Cols, i%x.Cols, float64(v))
	}
	var pc stat.PC
	if !pc.PrincipalComponents(wide, nil) {
		t.Fatal("no components")
	}
	var vectors, places mat.Dense
	pc.VectorsTo(&vectors)
	places.Mul(wide, vectors.Slice(0, x.Cols, 0, 2))
	return dense.Narrowed(places.RawMatrix().Data)
}

func plane(places []float32) blas32.General {
	return blas32.General{Rows: len(places) / 2, Cols: 2, Stride: 2, Data: places}
}

// Of heaps in many dimensions, neighbours in the plane are neighbours, more than those of the
// principal components are, and again the same.
func TestLayoutKeepsNeighbours(t *testing.T) {
	x := heaps(300, 30, 20, 0.3)
	from := principal(t, x)
	g := find(t, x, 15)
	layout := func() []float32 {
		return must.Get(g.Layout(context.Background(), from, 1, silent))(t)
	}
	places := layout()
	before, after := trust(x, plane(from), 10), trust(x, plane(places), 10)
	if after < 0.97 || after < before+0.05 {
		t.Errorf("trustworthiness %.3f, of principal components %.3f", after, before)
	}
	if !slices.Equal(places, layout()) {
		t.Error("a second time the places are others")
	}
}

// Both stop when they are told to, and say how far they are.
func TestCancel(t *testing.T) {
	x := heaps(600, 8, 4, 0.5)
	ctx, cancel := context.WithCancel(context.Background())
	var shares []float64
	_, err := neighbours.Find(ctx, linalg.Backend{}, heaps(6000, 8, 4, 0.5), 15, 1, func(share float64) {
		shares = append(shares, share)
		cancel()
	})
	if !errors.Is(err, context.Canceled) || len(shares) != 1 {
		t.Errorf("find: %v after %v", err, shares)
	}
	g := find(t, x, 15)
	shares = nil
	ctx, cancel = context.WithCancel(context.Background())
	_, err = g.Layout(ctx, principal(t, x), 1, func(share float64) {
		if shares = append(shares, share); len(shares) == 3 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || len(shares) != 3 || !slices.IsSorted(shares) || shares[2] > 0.5 {
		t.Errorf("layout: %v after %v", err, shares)
	}
}

func BenchmarkLayout(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		x := heaps(n, 64, 100, 0.5)
		from := make([]float32, 2*n)
		for i := range n {
			copy(from[2*i:], dense.Row32(x, i)[:2])
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				begun := time.Now()
				g := find(b, x, 15)
				b.ReportMetric(time.Since(begun).Seconds(), "s/graph")
				begun = time.Now()
				must.Get(g.Layout(context.Background(), from, 1, silent))(b)
				b.ReportMetric(time.Since(begun).Seconds(), "s/layout")
			}
		})
	}
}
