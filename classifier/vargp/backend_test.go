package vargp_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier/vargp"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
	"github.com/seed-90d10d51/pipeline/linalg/native/nativetest"
)

// TestLoadedHeadUsesTheBackendThroughout: a head that is loaded and then moved to a
// backend scores the bits of the head that learned on it. The products of the
// network are large enough at this dimension.
func TestLoadedHeadUsesTheBackendThroughout(t *testing.T) {
	const n, dim = 24, 300
	rng := rand.New(rand.NewPCG(3, 4))
	x, y := dense.New32(n, dim), make([]string, n)
	for i := range y {
		y[i] = string(rune('a' + i%3))
		for j := range dim {
			x.Data[i*dim+j] = float32(rng.NormFloat64() + float64(i%3)*float64(j%2))
		}
	}
	cfg := vargp.DefaultConfig()
	cfg.Steps = 5
	nativetest.Each(t, func(t *testing.T, backend linalg.Backend) {
		h, err := vargp.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		h.UseBackend(backend)
		if err := h.Learn(context.Background(), x, y); err != nil {
			t.Fatal(err)
		}
		state, err := h.Save()
		if err != nil {
			t.Fatal(err)
		}
		back, err := vargp.Load(state)
		if err != nil {
			t.Fatal(err)
		}
		back.UseBackend(backend)
		var scores [2][]float64
		for i, head := range []*vargp.VARGP{h, back} {
			dst := dense.New(n, 3)
			if err := head.Score(dst, nil, x); err != nil {
				t.Fatal(err)
			}
			scores[i] = dst.Data
		}
		if !slices.Equal(scores[0], scores[1]) {
			t.Error("the scores differ")
		}
	})
}
