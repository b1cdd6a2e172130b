package vargp_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier/vargp"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
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
		h := must.Get(vargp.New(cfg))(t)
		h.UseBackend(backend)
		must.Do(t, h.Learn(context.Background(), x, y))
		state := must.Get(h.Save())(t)
		back := must.Get(vargp.Load(state))(t)
		back.UseBackend(backend)
		var scores [2][]float64
		for i, head := range []*vargp.VARGP{h, back} {
			dst := dense.New(n, 3)
			must.Do(t, head.Score(dst, nil, x))
			scores[i] = dst.Data
		}
		if !slices.Equal(scores[0], scores[1]) {
			t.Error("the scores differ")
		}
	})
}
