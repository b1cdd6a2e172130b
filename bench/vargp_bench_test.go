package bench_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/gp/vargp"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/linalg/native"
	"github.com/seed-90d10d51/pipeline/linalg/native/nativetest"
)

// vargpVariable names the environment variable with the folder of the authors'
// VAR-GP code.
const vargpVariable = "VARGP_OFFICIAL"

// vargpSteps is the number of steps per round.
const vargpSteps = 20

// A vargpSize is the size of a step on the last of several tasks.
type vargpSize struct{ heads, tasks, inducing, d, batch int }

func (s vargpSize) String() string {
	return fmt.Sprintf("H=%d/T=%d/M=%d/d=%d/B=%d", s.heads, s.tasks, s.inducing, s.d, s.batch)
}

// steps returns a function that learns the last task in vargpSteps steps, after
// learning each earlier task in one step.
func (s vargpSize) steps(b *testing.B, own bool) func() time.Duration {
	b.Helper()
	cfg := vargp.DefaultConfig()
	cfg.OwnInputs, cfg.Rate, cfg.Batch, cfg.Steps, cfg.Epochs = own, 1e-3, s.batch, 0, 1
	m := must.Get(vargp.New(cfg, s.d, s.heads, 5))(b)
	m = m.On(nativetest.Open(b, native.ONNXRuntime).Backend)
	rng := rand.New(rand.NewPCG(1, 1))
	normal := func(rows int) blas64.General {
		x := dense.New(rows, s.d)
		for i := range x.Data {
			x.Data[i] = rng.NormFloat64()
		}
		return x
	}
	task := vargp.Task{X: normal(s.batch)}
	for i := range s.batch {
		task.Y = append(task.Y, i%s.heads)
	}
	learn := func(m *vargp.Model) {
		task.Inputs = nil
		for range m.Groups() {
			task.Inputs = append(task.Inputs, normal(s.inducing))
		}
		must.Get(m.Learn(context.Background(), task))(b)
	}
	for range s.tasks - 1 {
		learn(m)
	}
	cfg.Epochs = vargpSteps
	last := must.Get(vargp.Restore(cfg, s.d, m.Snapshot()))(b)
	last = last.On(nativetest.Open(b, native.ONNXRuntime).Backend)
	return func() time.Duration {
		c := last.Clone()
		begin := time.Now()
		learn(c)
		return time.Since(begin)
	}
}

// BenchmarkVARGPStepOfficial alternates with the authors' own code in
// $VARGP_OFFICIAL; see vargp_peer.py. Theirs has inducing inputs for every
// head, like ours with own; shared is our default.
func BenchmarkVARGPStepOfficial(b *testing.B) {
	if os.Getenv(vargpVariable) == "" {
		b.Skipf("set %s to a copy of github.com/uber-research/var-gp", vargpVariable)
	}
	for _, s := range []vargpSize{{11, 3, 20, 192, 256}, {10, 5, 60, 784, 512}} {
		b.Run(s.String(), func(b *testing.B) {
			job := fmt.Sprintf("step %d %d %d %d %d %d", vargpSteps, s.heads, s.tasks, s.inducing, s.d, s.batch)
			python := newPeer(b, []string{job}, "vargp_peer.py")
			own, shared := s.steps(b, true), s.steps(b, false)
			var times [3]tally
			var ratio, ratioShared tally
			for b.Loop() {
				round := interleave(own, shared, func() time.Duration { return python.round(b) })
				for i := range rounds {
					for side := range times {
						times[side] = append(times[side], round[side][i].Seconds()*1e3/vargpSteps)
					}
					ratio = append(ratio, round[2][i].Seconds()/round[0][i].Seconds())
					ratioShared = append(ratioShared, round[2][i].Seconds()/round[1][i].Seconds())
				}
			}
			ratio.report(b, "times_as_fast")
			ratioShared.report(b, "shared_times_as_fast")
			b.ReportMetric(times[0].median(), "ms/step")
			b.ReportMetric(times[1].median(), "shared_ms/step")
			b.ReportMetric(times[2].median(), "official_ms/step")
		})
	}
}
