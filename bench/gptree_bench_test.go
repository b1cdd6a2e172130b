package bench_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/gptree"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/linalg/native"
	"github.com/seed-90d10d51/pipeline/method"
)

// officialVariable names the environment variable with the folder of the
// authors' GP-Tree code.
const officialVariable = "GPTREE_OFFICIAL"

// gpTreeJob describes one fit: Gibbs nodes over all classes, RBF kernel.
type gpTreeJob struct{ classes, n, d, chains, steps int }

func (j gpTreeJob) String() string {
	return fmt.Sprintf("classes=%d_n=%d_d=%d_chains=%d_steps=%d", j.classes, j.n, j.d, j.chains, j.steps)
}

// fit returns a function that runs one fit.
func (j gpTreeJob) fit(b *testing.B, c native.Choice) func() error {
	x, y := spectrum(j.classes*j.n, j.d, j.classes)
	cfg := method.DefaultConfig()
	cfg = method.Change(cfg, "gptree", func(c *gptree.Config) {
		c.Mean, c.Base, c.Calibrate = gptree.MeanZero, gptree.BaseGibbs, false // as theirs
		c.Chains, c.Steps, c.MaxPerClass = j.chains, j.steps, max(c.MaxPerClass, j.n)
	})
	return func() error {
		h, err := method.NewOn(c.Backend, "gptree", cfg)
		if err != nil {
			return err
		}
		return learned(h, x, y)
	}
}

func learned(h classifier.Learner, x blas32.General, y []string) error {
	return h.Learn(context.Background(), x, y)
}

// BenchmarkGPTreeFit compares with the authors' code on all cores; of_official
// is our speed relative to theirs.
func BenchmarkGPTreeFit(b *testing.B) {
	begin := time.Now()
	fitAgainstOfficial(b, func() time.Duration { return time.Since(begin) })
}

// fitAgainstOfficial compares the time that clock shows; the peer shows the same kind
// of time if it gets the given arguments.
func fitAgainstOfficial(b *testing.B, clock func() time.Duration, args ...string) {
	if os.Getenv(officialVariable) == "" {
		b.Skipf("set %s to a copy of github.com/IdanAchituve/GP-Tree", officialVariable)
	}
	for _, j := range []gpTreeJob{{20, 30, 512, 10, 1}, {60, 30, 512, 10, 1}} {
		b.Run(j.String(), func(b *testing.B) {
			p := newPeer(b, []string{fmt.Sprintf("fit 1 %d %d %d %d %d", j.classes, j.n, j.d, j.chains, j.steps)},
				"gptree_peer.py", args...)
			eachBackend(b, func(b *testing.B, c native.Choice) {
				work := j.fit(b, c)
				versus(b, p, "of_official", func() time.Duration {
					begin := clock()
					must.Do(b, work())
					return clock() - begin
				})
			})
		})
	}
}

// BenchmarkGPTreeGrowth shows how the cost grows with classes, images per
// class, chains and steps.
func BenchmarkGPTreeGrowth(b *testing.B) {
	for _, j := range []gpTreeJob{
		{15, 30, 512, 10, 1}, {30, 30, 512, 10, 1}, {60, 30, 512, 10, 1},
		{60, 5, 512, 10, 1}, {60, 10, 512, 10, 1}, {30, 30, 512, 20, 1}, {30, 30, 512, 40, 1}, {30, 30, 512, 10, 5},
		{30, 30, 512, 10, 20},
	} {
		b.Run(j.String(), func(b *testing.B) {
			eachBackend(b, func(b *testing.B, c native.Choice) {
				work := j.fit(b, c)
				for b.Loop() {
					must.Do(b, work())
				}
			})
		})
	}
}
