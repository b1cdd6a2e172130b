package model

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/ncm"
	"github.com/seed-90d10d51/pipeline/classifier/plda"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestCompare: a head without a space compares like plda, as long as embeddings
// are kept, and by the variance of the rows otherwise.
func TestCompare(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x, y := dense.New32(40, 6), make([]string, 40)
	for i := range y {
		y[i] = fmt.Sprint(i % 5)
		for j := range 6 {
			x.Data[6*i+j] = float32(rng.NormFloat64())
		}
	}
	compared := func(p *Predictor) []float64 {
		t.Helper()
		_, white, err := p.Compare(context.Background(), dense.Rows32(x, 0, 9))
		if err != nil || white.Rows != 9 {
			t.Fatal(err)
		}
		return white.Data
	}
	head := must.Get(plda.New(plda.DefaultConfig()))(t)
	must.Do(t, head.Learn(context.Background(), x, y))
	near := must.Get(ncm.New(ncm.DefaultConfig()))(t)
	want := compared(&Predictor{Head: head})
	split := blas32.General{Rows: 20, Cols: 6, Stride: 6, Data: x.Data[120:]} // a second session
	first := episodes.Episode{X: dense.Rows32(x, 0, 20), Y: y[:20]}
	keeping := &Predictor{Head: near, kept: newKeptExamples(first).with(episodes.Episode{X: split, Y: y[20:]})}
	if got := compared(keeping); !slices.Equal(got, want) {
		t.Errorf("with kept embeddings %v, want %v", got[:6], want[:6])
	}
	rows := compared(&Predictor{Head: near})
	if total := dense.SumSquares(rows) / float64(len(rows)); total < 1 || total > 3 || slices.Equal(rows, want) {
		t.Errorf("without embeddings the variance is %v", total)
	}
}
