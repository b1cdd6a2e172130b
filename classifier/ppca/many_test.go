package ppca_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier/classifiertest"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
	"github.com/seed-90d10d51/pipeline/linalg/native/nativetest"
)

// TestManyClasses has enough classes that they are scored in several spans,
// some of them without components, in batches of several sizes. Each row gives
// the same result as alone, to the last bit, and that of the denseGaussian
// models.
func TestManyClasses(t *testing.T) {
	const d, q, classes, lambda = 80, 20, 130, 0.05
	var x []float32
	var y []string
	for c := range classes {
		n := 25
		if c%7 == 0 {
			n = 1
		}
		x = append(x, cloud(n, d, float64(c%11)/10, 1, uint64(c+1)).Data...)
		y = append(y, labels(n, fmt.Sprintf("c%03d", c))...)
	}
	train := blas32.General{Rows: len(y), Cols: d, Stride: d, Data: x}
	h := learned(t, raw(q, lambda, true), train, y)
	queries := cloud(300, d, 0.5, 1, 999)
	checked := []int{0, 64, 129}
	models := map[int]*denseGaussian{}
	for _, c := range checked {
		rows := slices.Collect(func(yield func(int) bool) {
			for i, label := range y {
				if label == fmt.Sprintf("c%03d", c) && !yield(i) {
					return
				}
			}
		})
		models[c] = denseModel(t, dense.Gather32(train, rows), q, lambda)
	}
	nativetest.Each(t, func(t *testing.T, m linalg.Backend) {
		h.UseBackend(m)
		whole := classifiertest.LogProb(t, h, queries)
		for _, i := range []int{0, 13, 255, 256, 299} {
			got := whole.Data[i*classes : (i+1)*classes]
			if !slices.Equal(classifiertest.LogProb(t, h, dense.Rows32(queries, i, i+1)).Data, got) {
				t.Errorf("row %d alone differs", i)
			}
			row := dense.Row32(queries, i)
			for _, c := range checked[1:] { // differences, as nothing else is known of the sum
				want := models[c].score(row) - models[checked[0]].score(row)
				if diff := got[c] - got[checked[0]] - want; math.Abs(diff) > 1e-4*(1+math.Abs(want)) {
					t.Errorf("row %d: class %d is off by %g of %g nats", i, c, diff, want)
				}
			}
		}
	})
}
