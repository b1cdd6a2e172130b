package gptree_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/gptree"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func kmeans(t *testing.T, means blas64.General, seed uint64) *gptree.Tree {
	t.Helper()
	cfg := gptree.DefaultKMeansConfig()
	cfg.Seed = seed
	tree := must.Get(gptree.KMeans(context.Background(), means, cfg))(t)
	checkTree(t, tree, means.Rows)
	return tree
}

func rows(values ...[]float64) blas64.General {
	m := dense.New(len(values), len(values[0]))
	for i, v := range values {
		copy(m.Data[i*m.Stride:], v)
	}
	return m
}

// bestSplit tries all divisions of the rows of x, of length 1, and returns the
// smallest spread within the two sides.
func bestSplit(x blas64.General) float64 {
	best := math.Inf(1)
	for mask := 1; mask < 1<<(x.Rows-1); mask++ {
		var sides [2][]int
		for i := range x.Rows {
			sides[mask>>i&1] = append(sides[mask>>i&1], i)
		}
		best = min(best, spread(x, sides[0])+spread(x, sides[1]))
	}
	return best
}

// spread is the sum of squared distances of some rows from their mean.
func spread(x blas64.General, of []int) float64 {
	mean, sum := make([]float64, x.Cols), 0.0
	for _, i := range of {
		for j := range mean {
			mean[j] += x.Data[i*x.Stride+j] / float64(len(of))
		}
	}
	for _, i := range of {
		for j, m := range mean {
			sum += math.Pow(x.Data[i*x.Stride+j]-m, 2)
		}
	}
	return sum
}

func TestKMeansRootIsTheBestSplit(t *testing.T) {
	for seed := range uint64(10) {
		means := normal(9, 4, 1, seed)
		x := dense.New(9, 4)
		for i := range 9 {
			v := means.Data[i*4 : i*4+4]
			norm := math.Sqrt(v[0]*v[0] + v[1]*v[1] + v[2]*v[2] + v[3]*v[3])
			for j := range v {
				x.Data[i*4+j] = v[j] / norm
			}
		}
		left, right := must.Get2(kmeans(t, means, seed).Split(0))(t)
		if got, want := spread(x, left)+spread(x, right), bestSplit(x); got > want+1e-12 {
			t.Errorf("means %d: spread %g, the best is %g", seed, got, want)
		}
	}
}

// One run, without restarts, must end with every class nearer to the mean of its
// own side; one iteration alone often does not.
func TestKMeansRunsUntilNothingMoves(t *testing.T) {
	cut := 0
	for seed := range uint64(20) {
		means := normal(60, 2, 1, seed)
		for maxIter, allowed := range map[int]bool{1: true, 300: false} {
			cfg := gptree.KMeansConfig{Seed: 1, Restarts: 1, MaxIter: maxIter}
			tree := must.Get(gptree.KMeans(context.Background(), means, cfg))(t)
			if stable(t, tree, means) {
				continue
			}
			cut++
			if !allowed {
				t.Errorf("means %d: the root is not settled after %d iterations", seed, maxIter)
			}
		}
	}
	if cut == 0 {
		t.Error("one iteration settled every root: max_iter has no effect")
	}
}

// stable reports whether every class (rows in the plane) is on the side of the
// root whose mean direction is nearer.
func stable(t *testing.T, tree *gptree.Tree, means blas64.General) bool {
	t.Helper()
	left, right := must.Get2(tree.Split(0))(t)
	unit := func(c int) (x, y float64) {
		r := math.Hypot(means.Data[2*c], means.Data[2*c+1])
		return means.Data[2*c] / r, means.Data[2*c+1] / r
	}
	var centre [2][2]float64
	for k, side := range [][]int{left, right} {
		for _, c := range side {
			x, y := unit(c)
			centre[k][0] += x / float64(len(side))
			centre[k][1] += y / float64(len(side))
		}
	}
	for k, side := range [][]int{left, right} {
		for _, c := range side {
			x, y := unit(c)
			own := math.Hypot(x-centre[k][0], y-centre[k][1])
			if own > math.Hypot(x-centre[1-k][0], y-centre[1-k][1])+1e-12 {
				return false
			}
		}
	}
	return true
}

func TestKMeansFindsNestedGroups(t *testing.T) {
	// directions in the plane, in degrees: {0,2} near 0, {1,3} near 20; {4,5} near 150
	means := dense.New(6, 2)
	for i, degrees := range []float64{0, 20, 2, 24, 150, 155} {
		means.Data[2*i], means.Data[2*i+1] = math.Cos(degrees*math.Pi/180), math.Sin(degrees*math.Pi/180)
		blas64.Scal(float64(1+i), blas64.Vector{N: 2, Data: means.Data[2*i:], Inc: 1}) // length must not matter
	}
	if got := preorder(t, kmeans(t, means, 1)); got != "[-1,-1,-1,0,2,-1,1,3,-1,4,5]" {
		t.Errorf("tree %s", got)
	}
}

func TestKMeansDegenerateMeans(t *testing.T) {
	direction := []float64{0.3, -0.7, 1.1}
	parallel := dense.New(9, 3)
	for i := range 9 {
		for j, v := range direction {
			parallel.Data[i*3+j] = v * float64(3*i+1) // equal up to rounding after scaling
		}
	}
	for name, means := range map[string]blas64.General{
		"zero": dense.New(9, 3), "parallel": parallel, "no columns": dense.New(9, 0),
	} {
		tree := kmeans(t, means, 1)
		if want := bits.Len(8); tree.Depth() != want {
			t.Errorf("%s: depth %d, want %d", name, tree.Depth(), want)
		}
		left, _, _ := tree.Split(0)
		if !slices.Equal(left, []int{0, 1, 2, 3, 4}) {
			t.Errorf("%s: left of the root is %v", name, left)
		}
	}
	// a group of equal means stays together and is halved in order
	some := rows([]float64{1, 0}, []float64{0, 1}, []float64{1, 0}, []float64{2, 0}, []float64{1, 0})
	if got := preorder(t, kmeans(t, some, 1)); got != "[-1,-1,-1,0,2,-1,3,4,1]" {
		t.Errorf("four equal means and another: %s", got)
	}
	if got := preorder(t, kmeans(t, rows([]float64{1, 1}), 1)); got != "[0]" {
		t.Errorf("one class: %s", got)
	}
	if got := preorder(t, kmeans(t, rows([]float64{1, 1}, []float64{1, 1}), 1)); got != "[-1,0,1]" {
		t.Errorf("two equal classes: %s", got)
	}
}

func TestKMeansAnySizeOfNumbers(t *testing.T) {
	want := kmeans(t, normal(20, 5, 1, 3), 1)
	for _, scale := range []float64{0x1p-1040, 0x1p-1000, 0x1p-40, 0x1p1000, 0x1p1022} {
		if got := kmeans(t, normal(20, 5, scale, 3), 1); !reflect.DeepEqual(got, want) {
			t.Errorf("means times %g give another tree", scale)
		}
	}
}

func TestKMeansDoesNotDependOnThreads(t *testing.T) {
	means := normal(60, 16, 1, 9)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	want := kmeans(t, means, 4)
	runtime.GOMAXPROCS(8)
	if !reflect.DeepEqual(kmeans(t, means, 4), want) {
		t.Error("eight threads give another tree")
	}
}

// What happens to the right of the root must not reach the left.
func TestKMeansBranchesAreIndependent(t *testing.T) {
	means := normal(40, 8, 0.3, 5)
	for i := range 40 {
		means.Data[i*8] += 5
		if i >= 20 {
			means.Data[i*8] -= 10
		}
	}
	before := kmeans(t, means, 1)
	for i := 20; i < 40; i++ {
		means.Data[i*8+3] += 0.1 * float64(i%7)
	}
	after := kmeans(t, means, 1)
	if reflect.DeepEqual(before, after) {
		t.Fatal("the means to the right did not change their sub-tree")
	}
	for c := range 20 {
		a, _ := before.Path(c)
		b, _ := after.Path(c)
		if !slices.Equal(a, b) {
			t.Errorf("path of class %d: %v, then %v", c, a, b)
		}
	}
}

func TestKMeansRefuses(t *testing.T) {
	nan, inf := normal(4, 3, 1, 1), normal(4, 3, 1, 1)
	nan.Data[7], inf.Data[10] = math.NaN(), math.Inf(-1)
	for row, means := range map[int]blas64.General{2: nan, 3: inf} {
		_, err := gptree.KMeans(context.Background(), means, gptree.DefaultKMeansConfig())
		var notFinite *classifier.NotFiniteError
		if !errors.As(err, &notFinite) || notFinite.Row != row {
			t.Errorf("row %d: %v", row, err)
		}
	}
	for name, means := range map[string]blas64.General{
		"no classes": dense.New(0, 3), "bad matrix": {Rows: 2, Cols: 3, Stride: 3, Data: make([]float64, 5)},
	} {
		if _, err := gptree.KMeans(context.Background(), means, gptree.DefaultKMeansConfig()); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for _, cfg := range []gptree.KMeansConfig{{}, {Restarts: 1}, {MaxIter: 1}, {Restarts: 1 << 21, MaxIter: 1},
		{Restarts: 1, MaxIter: 1 << 21}} {
		if cfg.Validate() == nil {
			t.Errorf("%+v is valid", cfg)
		}
		_, err := gptree.KMeans(context.Background(), normal(2, 2, 1, 1), cfg)
		if zero := cfg == (gptree.KMeansConfig{}); (err == nil) != zero { // which stands for the default
			t.Errorf("%+v: a tree", cfg)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := gptree.KMeans(ctx, normal(4, 3, 1, 1), gptree.DefaultKMeansConfig())
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func BenchmarkKMeans(b *testing.B) {
	for _, classes := range []int{60, 240, 960} {
		means := normal(classes, 512, 1, 1)
		b.Run(fmt.Sprintf("C=%d_d=512_restarts=50", classes), func(b *testing.B) {
			for b.Loop() {
				must.Get(gptree.KMeans(context.Background(), means, gptree.DefaultKMeansConfig()))(b)
			}
		})
	}
}
