// Package closedset compares heads that learn all their classes at once, for
// various numbers of classes: Table 1 and Fig. 4 of Achituve et al. 2021.
//
//	setting         what
//	Rows            heads with their own settings; Grid holds values to choose from
//	Classes         numbers of classes
//	PerClass        training images per class
//	HeldOut         at most so many held-out images per class, half to choose settings on, half to test
//	Runs            draws of classes and images; the classes of a run are nested
//	GridRuns        draws on whose first half settings are chosen
//	GridMost        largest number of classes at which settings are chosen
//
// Every combination of a row's grid is fitted in GridRuns draws at every number
// of classes up to GridMost. The combination with the highest mean accuracy on
// the first half of the held-out images (on ties the first in the order of keys
// and values) is tested on the second half in all draws. Numbers of classes
// above GridMost reuse the choice made at the largest one below. Within a draw
// no test image influences the choice, but draws share one pool of images.
//
// A head that refuses so many classes leaves an empty cell, as in the paper.
//
// Cost: (combinations · GridRuns + Runs) fits and predictions per cell. Every
// choice and every draw of a cell is saved when it is finished.
package closedset

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/gpsoftmax"
	"github.com/seed-90d10d51/pipeline/internal/chart"
	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/grid"
	"github.com/seed-90d10d51/pipeline/research/table"
)

// A choice is the outcome of choosing from a row's grid.
type choice struct {
	// Best is the index of the combination, −1 if the head refuses.
	Best int `json:"best"`
	// Accuracy holds the accuracies of all combinations.
	Accuracy []float64 `json:"accuracy"`
}

// Run measures every row at every number of classes.
func (c Config) Run(ctx context.Context, env experiment.Env) (experiment.Outcome, error) {
	m, err := env.Material()
	if err != nil {
		return experiment.Outcome{}, err
	}
	if len(c.Rows) == 0 {
		return experiment.Outcome{}, experiment.Inputf("experiment.closedset.rows is empty: say which heads to " +
			"compare, or take a built-in configuration such as cub200_table1")
	}
	if err := c.validateRows(env.Heads); err != nil {
		return experiment.Outcome{}, experiment.Inputf("experiment.closedset.%w", err)
	}
	p, err := c.pool(m)
	if err != nil {
		return experiment.Outcome{}, err
	}
	r := runner{Config: c, env: env, fingerprint: m.Fingerprint, pool: p}
	var cells grid.Grid
	for i := range c.Rows {
		own, err := r.row(ctx, i)
		if err != nil {
			return experiment.Outcome{}, fmt.Errorf("%s: %w", c.Rows[i].Name, err)
		}
		cells.Join(own)
	}
	return c.outcome(cells)
}

type runner struct {
	Config
	env         experiment.Env
	fingerprint string
	pool        pool
}

func (r runner) row(ctx context.Context, i int) (grid.Grid, error) {
	row := r.Rows[i]
	variants := row.variants()
	var best choice
	var cells grid.Grid
	for _, classes := range r.Classes {
		if classes <= r.GridMost && len(variants) > 1 {
			var err error
			if best, err = r.choose(ctx, i, variants, classes); err != nil {
				return nil, err
			}
		}
		at := grid.At("row", row.Name, "classes", classes)
		if best.Best < 0 {
			cells.Add(at, nil)
			continue
		}
		v := variants[best.Best]
		if len(variants) > 1 {
			at = at.And("chosen", row.chosen(v))
		}
		own, err := r.env.Measure(ctx, r.runs(i, v, classes, at)...)
		if err != nil {
			return nil, err
		}
		if len(variants) > 1 {
			own.Set(at, "validation", []float64{best.Accuracy[best.Best]})
		}
		cells.Join(own)
	}
	return cells, nil
}

// chosen returns the values that a variant has from the grid, names before numbers.
func (r Row) chosen(v method.Variant) string {
	var names, numbers []string
	for _, key := range slices.Sorted(maps.Keys(r.Grid)) {
		text := fmt.Sprint(v.Set[key])
		if _, err := strconv.ParseFloat(text, 64); err == nil {
			numbers = append(numbers, text)
		} else {
			names = append(names, text)
		}
	}
	return strings.Join(append(names, numbers...), ", ")
}

// choose returns the best combination on the validation images.
func (r runner) choose(ctx context.Context, i int, variants []method.Variant, classes int) (choice, error) {
	name := fmt.Sprintf("row%d_classes%d_choice", i+1, classes)
	return experiment.Part(ctx, r.env, name, r.inputs(variants, classes, r.GridRuns), func() (choice, error) {
		c := choice{Best: -1}
		for k, v := range variants {
			var sum float64
			for run := range r.GridRuns {
				s := r.pool.draw(r.Config, r.env.Seed, run, classes)
				a, err := r.measure(ctx, v, run, s.train, s.validation)
				if refused(err) {
					return choice{Best: -1}, nil
				}
				if err != nil {
					return c, err
				}
				sum += a / float64(r.GridRuns)
			}
			if c.Accuracy = append(c.Accuracy, sum); c.Best < 0 || sum > c.Accuracy[c.Best] {
				c.Best = k
			}
		}
		return c, nil
	})
}

// runs returns the tasks that test a variant in every draw. One that the head refuses
// leaves the cell empty.
func (r runner) runs(i int, v method.Variant, classes int, at grid.Place) []experiment.Task {
	tasks := make([]experiment.Task, r.Runs)
	for run := range tasks {
		tasks[run] = experiment.Task{
			Name: fmt.Sprintf("row%d_classes%d_run%d", i+1, classes, run+1),
			Of:   []any{r.inputs(v, classes, run), at},
			Measure: func(ctx context.Context) (grid.Grid, error) {
				s := r.pool.draw(r.Config, r.env.Seed, run, classes)
				a, err := r.measure(ctx, v, run, s.train, s.test)
				if refused(err) {
					return grid.One(at, nil), nil
				}
				return grid.One(at, grid.Values{"accuracy": a}), err
			},
		}
	}
	return tasks
}

func (r runner) inputs(heads any, classes, run int) experiment.Inputs {
	return []any{r.fingerprint, r.env.Heads, heads, classes, run, r.PerClass, r.HeldOut}
}

func (r runner) measure(ctx context.Context, v method.Variant, run int,
	train, test experiment.Labelled) (float64, error) {
	settings, err := v.Settings(r.env.Heads)
	if err != nil {
		return 0, err
	}
	env := r.env
	env.Heads = settings.Seeded(env.Seed + uint64(run))
	head, err := env.Head(v.Classifier)
	if err != nil {
		return 0, err
	}
	if err := head.Learn(ctx, train.X, train.Y); err != nil {
		return 0, err
	}
	return experiment.Accuracy(head, test)
}

// refused reports whether a head cannot take so many examples.
func refused(err error) bool {
	var many *gpsoftmax.TooManyError
	return errors.As(err, &many)
}

type pool struct {
	train, test experiment.Labelled
	// able lists the classes with enough images.
	able []string
}

func (c Config) pool(m experiment.Material) (pool, error) {
	var p pool
	p.train, p.test = experiment.All(m.Benches[0])
	held := map[string]int{}
	for _, y := range p.test.Y {
		held[y]++
	}
	for _, g := range classifier.GroupByClass(p.train.Y) {
		if len(g.Rows) >= c.PerClass && held[g.Class] >= 2 {
			p.able = append(p.able, g.Class)
		}
	}
	if most := c.Classes[len(c.Classes)-1]; len(p.able) < most {
		return p, experiment.Inputf("%d classes have %d training images and 2 held-out ones, %d are needed: lower "+
			"experiment.closedset.classes or per_class", len(p.able), c.PerClass, most)
	}
	return p, nil
}

type sample struct{ train, validation, test experiment.Labelled }

// draw returns the first classes of a run with their images. What it draws from
// a class depends on neither the number of classes nor other runs.
func (p pool) draw(c Config, seed uint64, run, classes int) sample {
	order := random.Stream(seed, "experiment/closedset/classes", run).Perm(len(p.able))
	var train, validation, test []int
	for _, k := range order[:classes] {
		rng := random.StreamOf(seed, "experiment/closedset/images", p.able[k:k+1], run)
		own := experiment.Shuffled(p.train.Of(p.able[k]), rng)
		train = append(train, own[:c.PerClass]...)
		held := experiment.Shuffled(p.test.Of(p.able[k]), rng)
		held = held[:min(len(held), c.HeldOut)]
		validation = append(validation, held[:len(held)/2]...)
		test = append(test, held[len(held)/2:]...)
	}
	return sample{p.train.Pick(train), p.test.Pick(validation), p.test.Pick(test)}
}

func (c Config) outcome(cells grid.Grid) (experiment.Outcome, error) {
	var others grid.Grid
	for _, cell := range cells {
		first := cells.Values(grid.At("row", c.Rows[0].Name, "classes", cell.At["classes"]), "accuracy")
		if cell.At["row"] != c.Rows[0].Name {
			others.Set(cell.At, "first_minus_this", table.Differences(first, cell.Values["accuracy"]))
		}
	}
	accuracies, err := c.accuracies(cells)
	o := experiment.Outcome{
		Title: "Heads that learn all classes at once", Results: experiment.Results{Kind: "closedset", Cells: cells},
		Tables: []table.Table{accuracies, others.Table(table.Table{
			Name: "paired", Title: c.Rows[0].Name + " against the others", Header: []string{c.Rows[0].Name + " minus"},
			Note: "Percentage points, mean of the differences in the same draw ± standard error.",
		}, []string{"row"}, cells.Across("classes", "%s", "first_minus_this", grid.PercentSEM)...)},
		Figures: []chart.Figure{cells.Figure("accuracy", chart.Axes{
			Title: fmt.Sprintf("Accuracy by number of classes · %d training images per class", c.PerClass),
			X:     "classes", Y: "accuracy (%)",
		}, grid.Lines{X: "classes", Y: "accuracy", Scale: 100, By: []string{"row"}, Spread: table.MeanSEM})},
	}
	if t := c.choices(cells); len(t.Rows) > 0 {
		o.Tables = append(o.Tables, t)
	}
	return o, err
}

// accuracies returns Table 1.
func (c Config) accuracies(cells grid.Grid) (table.Table, error) {
	t := cells.Table(table.Table{
		Name: "table", Title: "Accuracy by number of classes", Header: []string{"classes"},
		Note: fmt.Sprintf("Percent on test images, mean of %d runs ± standard error; %d training images per class. "+
			"Empty: the head refuses so many.", c.Runs, c.PerClass),
	}, []string{"row"}, cells.Across("classes", "%s", "accuracy", grid.PercentSEM)...)
	p, err := c.published()
	t.Note = strings.TrimSpace(t.Note + " " + p.Title)
	for i, theirs := range p.Rows {
		t.Add(append([]string{theirs.Name + " (paper)"}, p.Cells(i, c.Classes)...)...)
	}
	return t, err
}

func (c Config) choices(cells grid.Grid) table.Table {
	t := table.Table{
		Name: "chosen", Title: "Chosen settings", Header: append([]string{"classes"}, cells.Axis("classes")...),
		Note: fmt.Sprintf("By accuracy on validation images, in brackets (%%, mean of %d runs).", c.GridRuns),
	}
	if c.GridMost < c.Classes[len(c.Classes)-1] {
		t.Note += fmt.Sprintf(" More than %d classes use the last choice.", c.GridMost)
	}
	for _, name := range cells.Axis("row") {
		own, row, some := cells.Where(grid.At("row", name)), []string{name}, false
		for _, cell := range own {
			chosen, ok := cell.At["chosen"]
			if some = some || ok; !ok {
				row = append(row, table.None)
				continue
			}
			row = append(row, fmt.Sprintf("%s (%s)", chosen, grid.Percent(cell.Values["validation"])))
		}
		if some {
			t.Add(row...)
		}
	}
	return t
}
