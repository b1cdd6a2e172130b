package classifiertest

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// proper checks that every row is a distribution.
func proper(t *testing.T, what string, lp blas64.General) {
	t.Helper()
	for i := range lp.Rows {
		var sum float64
		for j, l := range lp.Data[i*lp.Stride : i*lp.Stride+lp.Cols] {
			if math.IsNaN(l) || math.IsInf(l, 0) || l > 1e-12 {
				t.Fatalf("%s: log-probability (%d,%d) = %g", what, i, j, l)
			}
			sum += math.Exp(l)
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Fatalf("%s: row %d sums to %.15g", what, i, sum)
		}
	}
}

// extremes returns finite queries far from all examples.
func extremes() blas32.General {
	q := blas32.General{Rows: 6, Cols: dim, Stride: dim, Data: make([]float32, 6*dim)}
	for j := range dim {
		q.Data[j] = 1e6
		q.Data[dim+j] = -1e6
		q.Data[2*dim+j] = 1e30
		q.Data[3*dim+j] = math.MaxFloat32
		q.Data[4*dim+j] = 1e-30
	}
	return q
}

func checkDistribution(t *testing.T, f Factory) {
	for name, h := range map[string]classifier.Learner{"base": f.learned(t, base()),
		"later": f.learned(t, base(), f.novel())} {
		proper(t, name, LogProb(t, h, queries()))
		proper(t, name+", far away", LogProb(t, h, extremes()))
		for i, v := range novelty(t, h, extremes()) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%s: novelty of extreme %d is %g", name, i, v)
			}
		}
	}
	h := f.learned(t, base())
	q := base()
	p := must(classifier.Predict(h, q.x, 2))(t)
	right := 0
	for i := range p {
		if p[i].Label == q.y[i] {
			right++
		}
	}
	if right*10 < 8*len(p) {
		t.Errorf("%d of %d training examples are recognised", right, len(p))
	}
}

func checkStrides(t *testing.T, f Factory) {
	h := f.learned(t, base())
	q := queries()
	want := LogProb(t, h, q)
	wide := blas32.General{Rows: q.Rows, Cols: dim, Stride: dim + 3, Data: make([]float32, q.Rows*(dim+3)-3)}
	for i := range q.Rows {
		copy(dense.Row32(wide, i), dense.Row32(q, i))
	}
	dst := blas64.General{Rows: q.Rows, Cols: want.Cols, Stride: want.Cols + 2,
		Data: make([]float64, q.Rows*(want.Cols+2))}
	for i := range dst.Data {
		dst.Data[i] = 42
	}
	if err := h.Score(dst, nil, wide); err != nil {
		t.Fatal(err)
	}
	for i := range dst.Data {
		row, col := i/dst.Stride, i%dst.Stride
		expect := 42.0
		if col < want.Cols {
			expect = want.Data[row*want.Stride+col]
		}
		if dst.Data[i] != expect {
			t.Fatalf("(%d,%d) = %g, want %g", row, col, dst.Data[i], expect)
		}
	}
}

// checkBatches checks that the result for a row does not depend on the other
// rows.
func checkBatches(t *testing.T, f Factory) {
	h := f.learned(t, base(), f.novel())
	q := draw(6, 70, "cat", "ant", "bee", "dog", "eel").x
	whole, unknown := LogProb(t, h, q), novelty(t, h, q)
	for _, i := range []int{0, 63, 64, 255, 256, q.Rows - 1} {
		alone := LogProb(t, h, dense.Rows32(q, i, i+1))
		if !slices.Equal(alone.Data, whole.Data[i*whole.Stride:(i+1)*whole.Stride]) {
			t.Errorf("row %d alone differs from the row within a batch", i)
		}
		if own := novelty(t, h, dense.Rows32(q, i, i+1)); own[0] != unknown[i] {
			t.Errorf("row %d alone has novelty %g, within a batch %g", i, own[0], unknown[i])
		}
	}
	empty := LogProb(t, h, dense.Rows32(q, 0, 0))
	if len(empty.Data) != 0 {
		t.Error("no rows, but log-probabilities")
	}
}

func checkScore(t *testing.T, f Factory) {
	h := f.learned(t, base(), f.novel())
	q := queries()
	want := LogProb(t, h, q)
	dst, nov := blas64.General{Rows: q.Rows, Cols: want.Cols, Stride: want.Cols, Data: make([]float64, len(want.Data))},
		make([]float64, q.Rows)
	if err := h.Score(dst, nov, q); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(dst.Data, want.Data) {
		t.Error("log-probabilities differ when the novelty is wanted too")
	}
	if h.Score(dst, nov[1:], q) == nil {
		t.Error("a novelty slice that is too short was accepted")
	}
}

func checkBadQueries(t *testing.T, f Factory) {
	h := f.learned(t, base())
	good := blas64.General{Rows: 1, Cols: 3, Stride: 3, Data: make([]float64, 3)}
	q := dense.Rows32(queries(), 0, 1)
	nan := blas32.General{Rows: 1, Cols: dim, Stride: dim, Data: make([]float32, dim)}
	nan.Data[dim-1] = float32(math.NaN())
	var bad *classifier.NotFiniteError
	err := h.Score(good, nil, nan)
	if !errors.As(err, &bad) || bad.Row != 0 {
		t.Errorf("NaN: %v", err)
	}
	for name, c := range map[string]struct {
		dst blas64.General
		x   blas32.General
	}{
		"columns of dst": {blas64.General{Rows: 1, Cols: 4, Stride: 4, Data: make([]float64, 4)}, q},
		"rows of dst":    {blas64.General{Rows: 2, Cols: 3, Stride: 3, Data: make([]float64, 6)}, q},
		"data of dst":    {blas64.General{Rows: 1, Cols: 3, Stride: 3, Data: make([]float64, 2)}, q},
		"stride of dst":  {blas64.General{Rows: 1, Cols: 3, Stride: 2, Data: make([]float64, 3)}, q},
		"width of x":     {good, blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: make([]float32, 2)}},
		"data of x":      {good, blas32.General{Rows: 1, Cols: dim, Stride: dim, Data: make([]float32, 2)}},
		"rows of x": {blas64.General{Rows: -1, Cols: 3, Stride: 3},
			blas32.General{Rows: -1, Cols: dim, Stride: dim}},
	} {
		if h.Score(c.dst, nil, c.x) == nil {
			t.Errorf("%s: was accepted", name)
		}
	}
	if h.Score(good, []float64{}, q) == nil {
		t.Error("an empty novelty slice was accepted")
	}
}

func checkConcurrency(t *testing.T, f Factory) {
	h := f.learned(t, base(), f.novel())
	q := queries()
	want := LogProb(t, h, q)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 5 {
				dst := blas64.General{Rows: q.Rows, Cols: want.Cols, Stride: want.Cols,
					Data: make([]float64, len(want.Data))}
				err := h.Score(dst, nil, q)
				if err != nil || !slices.Equal(dst.Data, want.Data) {
					t.Errorf("another answer than alone, %v", err)
				}
			}
		})
	}
	wg.Wait()
}

func checkNovelty(t *testing.T, f Factory) {
	h := f.learned(t, base())
	known := novelty(t, h, base().x)
	opposite := base().x
	for i := range opposite.Data {
		opposite.Data[i] *= -10
	}
	if unknown := novelty(t, h, opposite); slices.Min(unknown) <= slices.Max(known) {
		t.Errorf("novelty of known up to %g, of far points from %g", slices.Max(known), slices.Min(unknown))
	}
}

func checkCores(t *testing.T, f Factory) {
	many := f.learned(t, base(), f.novel())
	want := LogProb(t, many, queries())
	before := everything(t, many)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one := f.learned(t, base(), f.novel())
	unchanged(t, "learning on one core", one, before)
	if got := LogProb(t, one, queries()); !slices.Equal(got.Data, want.Data) {
		t.Error("scoring on one core gives other bits")
	}
}
