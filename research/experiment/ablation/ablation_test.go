package ablation_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/ppca"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/research/experiment/ablation"
	"github.com/seed-90d10d51/pipeline/research/experiment/experimenttest"
	"github.com/seed-90d10d51/pipeline/research/fscil"
	"github.com/seed-90d10d51/pipeline/research/table"
)

// bench returns three sessions of two classes that differ only in spread, so
// that only the components distinguish them, not the means.
func bench(t *testing.T) *fscil.Bench {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	return experimenttest.Bench(t, 6, 8, func(k int) experimenttest.Class {
		return experimenttest.Class{Session: k / 2, Train: 40, Test: 20, Draw: func(j int) float64 {
			if j == k {
				return 3 * rng.NormFloat64()
			}
			return 0.1 * rng.NormFloat64()
		}}
	})
}

// TestCells: every cell has the accuracy of its head; these classes need one
// component.
func TestCells(t *testing.T) {
	b := bench(t)
	s := experimenttest.Env(t, b)
	s.Heads = method.Change(s.Heads, "ppca", func(c *ppca.Config) { c.Preset = ppca.PresetPaper })
	c := ablation.Config{Inputs: []string{"x=somewhere"}, Q: []int{0, 1, 5}, Lambda: []float64{0.01, 1},
		Published: "table3_3"}
	o, cells := experimenttest.Run(t, c, s)
	settings := s.Heads
	for i, cell := range cells {
		q, lambda := c.Q[i%3], c.Lambda[i/3]
		settings = method.Change(settings, "ppca", func(c *ppca.Config) { c.Q, c.Lambda = q, lambda })
		run, err := b.Run(context.Background(),
			func() (classifier.Learner, error) { return method.New("ppca", settings) }, nil)
		got := cell.Values["accuracy"][0]
		if last := run.Sessions[2]; err != nil || last.Accuracy != got || last.Base != cell.Values["base_accuracy"][0] {
			t.Errorf("q %d, λ %g: %v, %v", q, lambda, got, err)
		}
		if i == 0 && got > 0.5 || i == 1 && got < 0.9 {
			t.Errorf("with %d components %g are right", q, got)
		}
		if shown := o.Tables[0].Rows[i/3][3+i%3]; shown != table.Percent(got) {
			t.Errorf("by q: %s, want %g", shown, got)
		}
		if shown := o.Tables[1].Rows[i%3][2+i/3]; shown != table.Percent(got) {
			t.Errorf("by lambda: %s, want %g", shown, got)
		}
	}
	if row := strings.Join(o.Tables[0].Rows[4],
		";"); row != "128×128;0.01;Wang 2023, Table 3.3, CIFAR-100, SWSL;–;–;73.53" {
		t.Errorf("published row %q", row)
	}
	if len(o.Figures) != 2 {
		t.Errorf("%d figures", len(o.Figures))
	}
}
