package gpr

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/gpr"
	"github.com/seed-90d10d51/pipeline/classifier/ncm"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/table"
)

// Results is the content of results.json.
type Results struct {
	Kind    string   `json:"kind"`
	Toy     *Toy     `json:"toy"`     // Fig. 1
	Timings []Timing `json:"timings"` // Fig. 2
	// Accuracies are fractions, one row per run; Fig. 3 after every class, Fig.
	// 4 after every step.
	Classes  *Accuracies `json:"classes"`
	Examples *Accuracies `json:"examples"`
}

// Accuracies holds the accuracies of one figure.
type Accuracies struct {
	GPR Curve `json:"gpr"`
	NCM Curve `json:"ncm"`
	// Off is the largest difference in log-probability (nats) between learning
	// step by step and learning all at once.
	Off float64 `json:"off_nats"`
}

// A runner holds the state shared by all figures: the settings, and all
// training and test images.
type runner struct {
	Config
	env         experiment.Env
	fingerprint string
	train, test experiment.Labelled
}

// Run measures all figures.
func Run(ctx context.Context, c Config, env experiment.Env) (experiment.Outcome, error) {
	out := Results{Kind: "gpr"}
	var err error
	if c.Grid > 0 {
		if out.Toy, err = c.toy(ctx, env); err != nil {
			return experiment.Outcome{}, err
		}
	}
	if len(c.N) == 0 && c.Classes == 0 {
		return c.outcome(out), nil
	}
	m, err := env.Material()
	if err != nil {
		return experiment.Outcome{}, err
	}
	r := runner{Config: c, env: env, fingerprint: m.Fingerprint}
	r.train, r.test = experiment.All(m.Benches[0])
	for _, n := range c.N {
		t, err := experiment.Part(ctx, env, fmt.Sprintf("timing_n%d", n), []any{m.Fingerprint,
			method.Get[gpr.Config](env.Heads, "gpr"), n, c.K, c.Repeats}, func() ([]Timing, error) {
			return r.timings(ctx, n)
		})
		if err != nil {
			return experiment.Outcome{}, err
		}
		out.Timings = append(out.Timings, t...)
	}
	if c.Classes > 0 {
		if out.Classes, err = r.accuracies(ctx, "classes", Config.byClass); err != nil {
			return experiment.Outcome{}, err
		}
		if out.Examples, err = r.accuracies(ctx, "examples", Config.byExamples); err != nil {
			return experiment.Outcome{}, err
		}
	}
	return c.outcome(out), nil
}

// A Curve is a measure by step, one row per run.
type Curve [][]float64

// at returns the values of all runs at step i.
func (c Curve) at(i int) []float64 {
	return table.Collect(c, func(run []float64) float64 { return run[i] })
}

// A run is one draw of a figure.
type run struct {
	// GPR and NCM hold accuracies on the test images of all classes.
	GPR []float64 `json:"gpr"`
	NCM []float64 `json:"ncm"`
	// Off is the largest difference in log-probability (nats) from a head
	// that learned everything at once.
	Off float64 `json:"off"`
}

// draw returns classes with enough images, each with its training rows in
// random order, and test images of all of them.
func (r runner) draw(run int) ([][]int, experiment.Labelled, error) {
	rng := random.Stream(r.env.Seed, "experiment/gpr/draw", run)
	var able []classifier.Group
	for _, g := range classifier.GroupByClass(r.train.Y) {
		if len(g.Rows) >= r.most() && slices.Contains(r.test.Y, g.Class) {
			able = append(able, g)
		}
	}
	if len(able) < r.Classes {
		return nil, experiment.Labelled{}, experiment.Inputf("%d classes have %d training images and some to test, "+
			"%d are needed: change experiment.gpr.classes, examples, step or steps", len(able), r.most(), r.Classes)
	}
	var train [][]int
	var test []int
	for _, i := range rng.Perm(len(able))[:r.Classes] {
		train = append(train, experiment.Shuffled(able[i].Rows, rng))
		some := experiment.Shuffled(r.test.Of(able[i].Class), rng)
		test = append(test, some[:min(len(some), r.TestPerClass)]...)
	}
	return train, r.test.Pick(test), nil
}

// byClass returns the sessions of Fig. 3: one class each.
func (c Config) byClass(train [][]int) [][]int {
	var sessions [][]int
	for _, rows := range train {
		sessions = append(sessions, rows[:c.Examples])
	}
	return sessions
}

// byExamples returns the sessions of Fig. 4: each has examples of all classes.
func (c Config) byExamples(train [][]int) [][]int {
	sessions := make([][]int, c.Steps+1)
	for s := range sessions {
		first, last := 0, c.Start
		if s > 0 {
			first, last = c.Start+(s-1)*c.Step, c.Start+s*c.Step
		}
		for _, rows := range train {
			sessions[s] = append(sessions[s], rows[first:last]...)
		}
	}
	return sessions
}

// accuracies measures one figure over all runs. Each run is a part.
func (r runner) accuracies(ctx context.Context, figure string,
	sessions func(Config, [][]int) [][]int) (*Accuracies, error) {
	settings := r.Config
	settings.N, settings.K, settings.Repeats, settings.Runs = nil, nil, 0, 0
	a := &Accuracies{}
	for i := range r.Runs {
		of := []any{r.fingerprint, method.Get[gpr.Config](r.env.Heads, "gpr"),
			method.Get[ncm.Config](r.env.Heads, "ncm"), settings, i}
		one, err := experiment.Part(ctx, r.env, fmt.Sprintf("%s_run%d", figure, i+1), of, func() (run, error) {
			train, test, err := r.draw(i)
			if err != nil {
				return run{}, err
			}
			return r.follow(ctx, sessions(r.Config, train), test)
		})
		if err != nil {
			return nil, err
		}
		a.GPR, a.NCM, a.Off = append(a.GPR, one.GPR), append(a.NCM, one.NCM), max(a.Off, one.Off)
	}
	return a, nil
}

// follow takes both heads through the sessions.
func (r runner) follow(ctx context.Context, sessions [][]int, test experiment.Labelled) (run, error) {
	env := r.env
	env.Heads = method.Change(env.Heads, "gpr",
		func(c *gpr.Config) { c.MaxPerClass, c.MaxTotal = r.most(), r.most()*r.Classes })
	var out run
	g, err := env.Head("gpr")
	if err != nil {
		return out, err
	}
	n, err := env.Head("ncm")
	if err != nil {
		return out, err
	}
	var all []int
	for _, rows := range sessions {
		all = append(all, rows...)
		more := r.train.Pick(rows)
		for _, h := range []struct {
			head classifier.Learner
			to   *[]float64
		}{{g, &out.GPR}, {n, &out.NCM}} {
			if err := h.head.Learn(ctx, more.X, more.Y); err != nil {
				return out, err
			}
			a, err := experiment.Accuracy(h.head, test)
			if err != nil {
				return out, err
			}
			*h.to = append(*h.to, a)
		}
		once, err := env.Head("gpr")
		if err != nil {
			return out, err
		}
		so := r.train.Pick(all)
		if err := once.Learn(ctx, so.X, so.Y); err != nil {
			return out, err
		}
		off, err := difference(g, once, test)
		if err != nil {
			return out, err
		}
		out.Off = max(out.Off, off)
	}
	return out, nil
}

// difference returns the largest difference in log-probability between two
// heads of the same classes.
func difference(a, b classifier.Head, test experiment.Labelled) (float64, error) {
	var p [2]blas64.General
	for i, h := range []classifier.Head{a, b} {
		p[i] = dense.New(test.X.Rows, len(h.Classes()))
		if err := h.Score(p[i], nil, test.X); err != nil {
			return 0, err
		}
	}
	var worst float64
	for j, class := range a.Classes() {
		k := slices.Index(b.Classes(), class)
		for i := range test.X.Rows {
			worst = max(worst, math.Abs(dense.Row(p[0], i)[j]-dense.Row(p[1], i)[k]))
		}
	}
	return worst, nil
}
