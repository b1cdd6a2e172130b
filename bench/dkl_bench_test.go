package bench_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/dkl"
	"github.com/seed-90d10d51/pipeline/gptree"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/linalg"
	"github.com/seed-90d10d51/pipeline/linalg/native"
	"github.com/seed-90d10d51/pipeline/linalg/native/nativetest"
)

// dklSteps is the number of steps per round.
const dklSteps = 4

// A dklSize is a step of phase 2.
type dklSize struct{ classes, inducing, batch, d, width int }

func (s dklSize) String() string {
	return fmt.Sprintf("classes=%d/inducing=%d/batch=%d/d=%d/D=%d", s.classes, s.inducing, s.batch, s.d, s.width)
}

// dklSizes varies classes, inducing inputs, batch, d and width around the first
// size.
func dklSizes() []dklSize {
	return []dklSize{
		{60, 5, 128, 192, 512}, {20, 5, 128, 192, 512}, {120, 5, 128, 192, 512},
		{60, 10, 128, 192, 512}, {60, 5, 256, 192, 512}, {60, 5, 128, 768, 512}, {60, 5, 128, 192, 1024},
	}
}

// epochs returns a function that takes dklSteps steps of phase 2, after the
// tree is built.
func (s dklSize) epochs(b *testing.B, m linalg.Backend) func() time.Duration {
	b.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	each := (dklSteps*s.batch + s.classes - 1) / s.classes
	e := dkl.Examples{X: dense.New32(dklSteps*s.batch, s.d)}
	centres := make([]float64, s.classes*s.d)
	for i := range centres {
		centres[i] = rng.NormFloat64()
	}
	for i := range e.X.Rows {
		class := i / each
		e.Y = append(e.Y, fmt.Sprintf("%03d", class))
		for j := range s.d {
			e.X.Data[i*s.d+j] = float32(centres[class*s.d+j] + 2*rng.NormFloat64())
		}
	}
	cfg := dkl.DefaultTraining()
	cfg.Preset, cfg.Epochs, cfg.Pretrain, cfg.Rate = dkl.PresetCUB, 1<<14, 0, 1e-3
	cfg.Dim, cfg.Batch, cfg.Inducing, cfg.Validation = s.width, s.batch, s.inducing, 0
	t := must.Get(dkl.NewTrainer(cfg, gptree.DefaultConfig(), e, m))(b)
	epoch := func() time.Duration {
		begin := time.Now()
		must.Get(t.Epoch(context.Background()))(b)
		return time.Since(begin)
	}
	epoch() // builds the tree
	return epoch
}

// BenchmarkDKLStep measures a step of phase 2: batch, nodes, gradient, SGD.
func BenchmarkDKLStep(b *testing.B) {
	for _, name := range []string{native.Gonum, native.ONNXRuntime} {
		for _, s := range dklSizes() {
			b.Run(fmt.Sprintf("%s/%s", s, name), func(b *testing.B) {
				epoch := s.epochs(b, nativetest.Open(b, name).Backend)
				var times tally
				for b.Loop() {
					times = append(times, epoch().Seconds()*1e3/dklSteps)
				}
				times.report(b, "ms/step")
			})
		}
	}
}

// BenchmarkDKLStepOfficial alternates with the authors' own code in
// $GPTREE_OFFICIAL; see dkl_peer.py.
func BenchmarkDKLStepOfficial(b *testing.B) {
	s := dklSizes()[0]
	b.Run(s.String(), func(b *testing.B) {
		job := fmt.Sprintf("step %d %d %d %d %d %d", dklSteps, s.classes, s.inducing, s.batch, s.d, s.width)
		python := newPeer(b, []string{job}, "dkl_peer.py")
		epoch := s.epochs(b, nativetest.Open(b, native.ONNXRuntime).Backend)
		var ratio, ours, theirs tally
		for b.Loop() {
			times := interleave(epoch, func() time.Duration { return python.round(b) })
			for i := range rounds {
				ours = append(ours, times[0][i].Seconds()*1e3/dklSteps)
				theirs = append(theirs, times[1][i].Seconds()*1e3/dklSteps)
				ratio = append(ratio, times[1][i].Seconds()/times[0][i].Seconds())
			}
		}
		ratio.report(b, "times_as_fast")
		b.ReportMetric(ours.median(), "ms/step")
		b.ReportMetric(theirs.median(), "official_ms/step")
	})
}
