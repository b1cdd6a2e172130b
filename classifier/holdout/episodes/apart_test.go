package episodes_test

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// With Apart nothing that is held out is like anything that is learned; where no two
// examples are alike, the draws are those without it.
func TestApartKeepsLikeExamplesOnOneSide(t *testing.T) {
	const classes, bursts, d = 6, 8, 40
	draw := func(photos int) (x [][]float32, y []string, burst []int) {
		rng := rand.New(rand.NewPCG(4, 4))
		for c := range classes {
			for range bursts {
				centre := make([]float32, d)
				for j := range centre {
					centre[j] = float32(rng.NormFloat64())
				}
				for range photos {
					row := make([]float32, d)
					for j := range row {
						row[j] = centre[j] + 0.05*float32(rng.NormFloat64())
					}
					x, y, burst = append(x, row), append(y, string(rune('a'+c))),
						append(burst, c*bursts+len(burst)/photos%bursts)
				}
			}
		}
		return x, y, burst
	}
	plan := func(rows [][]float32, y []string, apart bool) *episodes.Plan {
		x := dense.New32(len(rows), d)
		for i, row := range rows {
			copy(dense.Row32(x, i), row)
		}
		cfg := episodes.DefaultConfig()
		cfg.Apart = apart
		p, err := episodes.NewPlan(x, y, cfg)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	x, y, burst := draw(4)
	for _, apart := range []bool{false, true} {
		shared := 0
		for _, s := range plan(x, y, apart).Splits {
			learned := map[int]bool{}
			for _, r := range append(append([]int{}, s.Base...), s.Shots...) {
				learned[burst[r]] = true
			}
			for _, r := range append(append([]int{}, s.BaseTest...), s.NovelTest...) {
				if learned[burst[r]] {
					shared++
				}
			}
			if len(s.BaseTest) == 0 || len(s.NovelTest) == 0 || len(s.Base) == 0 {
				t.Errorf("apart %v: %d and %d held out of %d", apart, len(s.BaseTest), len(s.NovelTest), len(s.Base))
			}
		}
		if apart != (shared == 0) {
			t.Errorf("apart %v: %d held-out photos of a burst that is learned", apart, shared)
		}
	}
	x, y, _ = draw(1)
	if !reflect.DeepEqual(plan(x, y, true), plan(x, y, false)) {
		t.Error("without bursts: other draws")
	}
}
