package gp

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// library is a backend that is not gonum by its type.
type library struct{ linalg.Gonum }

// A node with enough inducing inputs for a library fits and predicts on it as on
// gonum, every row by itself.
func TestVIOnALibrary(t *testing.T) {
	const m, n, d = 260, 300, 280
	rng := rand.New(rand.NewPCG(4, 4))
	x := dense.New(m+n, d)
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	gram := dense.New(m+n, m+n)
	blas64.Gemm(blas.NoTrans, blas.Trans, 3./d, x, x, 0, gram)
	kmm, knm := dense.New(m, m), dense.New(n, m)
	yes, knn := make([]bool, n), make([]float64, n)
	for i := range m {
		copy(dense.Row(kmm, i), dense.Row(gram, i))
	}
	for i := range n {
		copy(dense.Row(knm, i), dense.Row(gram, m+i))
		yes[i], knn[i] = dense.Row(x, m+i)[0] > 0, dense.Row(gram, m+i)[m+i]
	}
	own := must.Get(NewVI(kmm))(t)
	other := own.On(linalg.On(linalg.Gonum{}, library{}))
	var want Latent
	for i, v := range []*VI{own, other} {
		b := must.Get(v.Batch(knm, knn, yes))(t)
		must.Get(v.Fit(context.Background(), b, 4, 0))(t)
		got := must.Get(v.Latent(knm, knn))(t)
		if i == 0 {
			want = got
		}
		for j := range n {
			if math.Abs(got.Mean.Data[j]-want.Mean.Data[j]) > 1e-9 ||
				math.Abs(got.Var.Data[j]-want.Var.Data[j]) > 1e-9 {
				t.Fatalf("row %d: %g ± %g, want %g ± %g", j, got.Mean.Data[j], got.Var.Data[j], want.Mean.Data[j],
					want.Var.Data[j])
			}
		}
		alone, err := v.Latent(dense.Rows(knm, 7, 8), knn[7:8])
		if err != nil || alone.Mean.Data[0] != got.Mean.Data[7] || alone.Var.Data[0] != got.Var.Data[7] {
			t.Errorf("row 7 alone: %v, %v", alone, err)
		}
	}
}
