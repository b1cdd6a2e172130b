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
	"github.com/seed-90d10d51/pipeline/internal/chart"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/grid"
	"github.com/seed-90d10d51/pipeline/research/table"
)

type runner struct {
	Config
	env         experiment.Env
	fingerprint string
	train, test experiment.Labelled
}

// Run measures all figures.
func (c Config) Run(ctx context.Context, env experiment.Env) (o experiment.Outcome, err error) {
	o.Title = "Incremental Gaussian process regression"
	var cells grid.Grid
	if c.Grid > 0 {
		steps, err := c.toy(ctx, env)
		if err != nil {
			return o, err
		}
		cells = toyCells(steps)
		c.addToy(&o, steps, cells)
	}
	if len(c.N) > 0 || c.Classes > 0 {
		m, err := env.Material()
		if err != nil {
			return o, err
		}
		r := runner{Config: c, env: env, fingerprint: m.Fingerprint}
		r.train, r.test = experiment.All(m.Benches[0])
		measured, err := env.Measure(ctx, append(r.timings(), r.accuracies()...)...)
		if err != nil {
			return o, err
		}
		cells.Join(measured)
	}
	if len(c.N) > 0 {
		c.addTimings(&o, cells)
	}
	for _, f := range c.figures() {
		f.add(&o, cells)
	}
	o.Results = experiment.Results{Kind: "gpr", Cells: cells}
	return o, nil
}

// A figure shows accuracy by what arrives in each step.
type figure struct {
	name, part, x, title string
	// steps are the values of x, sessions the rows learned in each step, from those of
	// every class.
	steps    []int
	sessions func(train [][]int) [][]int
}

// figures returns Figs. 3 and 4.
func (c Config) figures() []figure {
	if c.Classes == 0 {
		return nil
	}
	return []figure{
		{"fig3", "classes", "classes known", fmt.Sprintf("%d examples per class", c.Examples),
			sequence(1, 1, c.Classes), c.byClass},
		{"fig4", "examples", "examples per class", fmt.Sprintf("%d classes", c.Classes),
			sequence(c.Start, c.Step, c.Steps+1), c.byExamples},
	}
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

// accuracies returns the tasks of Figs. 3 and 4.
func (r runner) accuracies() []experiment.Task {
	settings := r.Config
	settings.N, settings.K, settings.Repeats, settings.Runs = nil, nil, 0, 0
	var tasks []experiment.Task
	for _, f := range r.figures() {
		for i := range r.Runs {
			tasks = append(tasks, experiment.Task{
				Name: fmt.Sprintf("%s_run%d", f.part, i+1),
				Of: []any{r.fingerprint, method.Get[gpr.Config](r.env.Heads, "gpr"),
					method.Get[ncm.Config](r.env.Heads, "ncm"), settings, i},
				Measure: func(ctx context.Context) (grid.Grid, error) {
					train, test, err := r.draw(i)
					if err != nil {
						return nil, err
					}
					return r.follow(ctx, f, train, test)
				},
			})
		}
	}
	return tasks
}

func (r runner) follow(ctx context.Context, f figure, train [][]int, test experiment.Labelled) (grid.Grid, error) {
	env := r.env
	env.Heads = method.Change(env.Heads, "gpr",
		func(c *gpr.Config) { c.MaxPerClass, c.MaxTotal = r.most(), r.most()*r.Classes })
	heads := map[string]classifier.Learner{}
	for _, name := range []string{"gpr", "ncm"} {
		var err error
		if heads[name], err = env.Head(name); err != nil {
			return nil, err
		}
	}
	var cells grid.Grid
	var all []int
	for i, rows := range f.sessions(train) {
		all = append(all, rows...)
		more := r.train.Pick(rows)
		for _, name := range []string{"gpr", "ncm"} {
			if err := heads[name].Learn(ctx, more.X, more.Y); err != nil {
				return nil, err
			}
			a, err := experiment.Accuracy(heads[name], test)
			if err != nil {
				return nil, err
			}
			cells.Add(grid.At("head", name, f.x, f.steps[i]), grid.Values{"accuracy": a})
		}
		once, err := env.Head("gpr")
		if err != nil {
			return nil, err
		}
		so := r.train.Pick(all)
		if err := once.Learn(ctx, so.X, so.Y); err != nil {
			return nil, err
		}
		off, err := difference(heads["gpr"], once, test)
		if err != nil {
			return nil, err
		}
		cells.Add(grid.At("head", "gpr", f.x, f.steps[i]), grid.Values{"off_nats": off})
	}
	return cells, nil
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

// add adds the table and the picture of a figure.
func (f figure) add(o *experiment.Outcome, cells grid.Grid) {
	o.Tables = append(o.Tables, cells.Table(table.Table{
		Name: f.part, Title: "Accuracy by " + f.x + ", " + f.title + " (Fig. " + f.name[3:] + ")",
		Note: "Percent on test images of all classes, including those not yet learned; mean over runs ± standard " +
			"error.",
	}, []string{f.x}, cells.Across("head", "%s", "accuracy", grid.PercentSEM)...))
	o.Figures = append(o.Figures, cells.Figure(f.name,
		chart.Axes{Title: "GP regression, accuracy on all classes · " + f.title, X: f.x, Y: "accuracy (%)"},
		grid.Lines{X: f.x, Y: "accuracy", Scale: 100, By: []string{"head"}, Spread: table.MeanSEM}))
}

func sequence(from, step, n int) []int {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = from + i*step
	}
	return numbers
}
