package gptree_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/gptree"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func blobs(classes, n, d int) (blas32.General, []string) {
	rng := rand.New(rand.NewPCG(4, 2))
	x := dense.New32(classes*n, d)
	var y []string
	for i := range x.Rows {
		for j := range d {
			x.Data[i*d+j] = float32(rng.NormFloat64() / 3)
		}
		x.Data[i*d+i%classes]++
		y = append(y, string(rune('a'+i%classes)))
	}
	return x, y
}

// With mean zero, a base session that starts from the default start equals that of
// Learn, to the byte.
func TestLearnFromItsOwnStart(t *testing.T) {
	x, y := blobs(5, 12, 6)
	cfg := gptree.DefaultConfig()
	cfg.Mean = gptree.MeanZero
	start := must.Get(cfg.Start(context.Background(), x, y))(t)
	var saved [][]float64
	for _, learn := range []func(*gptree.GPTree) error{
		func(h *gptree.GPTree) error { return h.Learn(context.Background(), x, y) },
		func(h *gptree.GPTree) error { return h.LearnFrom(context.Background(), start, x, y) },
	} {
		h := must.Get(gptree.New(cfg))(t)
		must.Do(t, learn(h))
		s := must.Get(h.Save())(t)
		saved = append(saved, slices.Concat(s.Tensors["vi_eta"].F64, s.Tensors["vi_precision"].F64))
	}
	if !slices.Equal(saved[0], saved[1]) {
		t.Error("another posterior")
	}
}

func TestStartsThatDoNotFit(t *testing.T) {
	x, y := blobs(3, 8, 6)
	cfg := gptree.DefaultConfig()
	for name, change := range map[string]func(*gptree.Start){
		"class":    func(s *gptree.Start) { s.Classes[0] = "z" },
		"tree":     func(s *gptree.Start) { s.Tree = nil },
		"inducing": func(s *gptree.Start) { s.Inducing[1] = nil },
		"width":    func(s *gptree.Start) { s.Inducing[1][0] = s.Inducing[1][0][1:] },
		"scale":    func(s *gptree.Start) { s.Lengthscale = 0 },
	} {
		start := must.Get(cfg.Start(context.Background(), x, y))(t)
		change(&start)
		h := must.Get(gptree.New(cfg))(t)
		if h.LearnFrom(context.Background(), start, x, y) == nil || len(h.Classes()) > 0 {
			t.Errorf("%s: learned", name)
		}
	}
}
