package gpr_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestEquation9: with both inputs new in the halved terms, Woodbury's formula
// gives the inverse of the changed matrix; as printed, with one of them old,
// it does not. The package's own form agrees with the former.
func TestEquation9(t *testing.T) {
	before := newModel(6, 12, 2, 1)
	after := newModel(6, 12, 2, 1)
	changed := []int{2, 5, 9}
	for i, x := range random(rand.New(rand.NewPCG(5, 5)), 3, 2) {
		after.x[changed[i]] = x
	}
	want, _ := after.inverse(t)
	for _, printed := range []bool{false, true} {
		got := woodburyByEquation6(t, before, after, changed, printed)
		var difference mat.Dense
		difference.Sub(got, want)
		off := mat.Norm(&difference, 1)
		if printed != (off > 0.1) {
			t.Errorf("as printed %v: off by %g", printed, off)
		}
	}
	for _, method := range methods() {
		r := fresh(t, method, before)
		must.Do(t, r.SetInputs(context.Background(), changed,
			denseOf([][]float64{after.x[2], after.x[5], after.x[9]})))
		after.same(t, string(method), r, 1e-10)
	}
}

// woodburyByEquation6 is eq. 6 with U and V of the direct update.
func woodburyByEquation6(t *testing.T, before, after *model, changed []int, printed bool) *mat.Dense {
	t.Helper()
	n, k := len(before.x), len(changed)
	inv, _ := before.inverse(t)
	U, V := mat.NewDense(n, 2*k, nil), mat.NewDense(2*k, n, nil)
	isChanged := map[int]bool{}
	for _, i := range changed {
		isChanged[i] = true
	}
	for col, i := range changed {
		U.Set(i, k+col, 1)
		V.Set(col, i, 1)
		for q := range n {
			a := after.kappa(after.x[i], after.x[q]) - before.kappa(before.x[i], before.x[q])
			if isChanged[q] {
				if printed && q != i {
					a = after.kappa(after.x[i], before.x[q]) - before.kappa(before.x[i], before.x[q])
				}
				a /= 2
			}
			U.Set(q, col, a)
			V.Set(k+col, q, a)
		}
	}
	var left, right, middle, out mat.Dense
	left.Mul(inv, U)
	right.Mul(V, inv)
	middle.Mul(&right, U)
	for i := range 2 * k {
		middle.Set(i, i, 1+middle.At(i, i))
	}
	var solved mat.Dense
	must.Do(t, solved.Solve(&middle, &right))
	out.Mul(&left, &solved)
	out.Sub(inv, &out)
	return &out
}
