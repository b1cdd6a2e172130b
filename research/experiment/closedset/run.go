package closedset

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/gpsoftmax"
	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/research/experiment"
)

// Results is the content of results.json.
type Results struct {
	Kind string `json:"kind"`
	// Cells are indexed by row, then by number of classes.
	Cells [][]Cell `json:"cells"`
}

// A Cell is the result of a row at one number of classes.
type Cell struct {
	Row     string `json:"row"`
	Classes int    `json:"classes"`
	// Chosen holds the chosen values of the grid, Validation their mean
	// accuracy on the validation images.
	Chosen     map[string]any `json:"chosen,omitempty"`
	Validation float64        `json:"validation,omitempty"`
	// Accuracies are fractions on the test images, one per run; empty if the
	// head refuses so many examples.
	Accuracies []float64 `json:"accuracies"`
}

// A choice is the outcome of choosing from a row's grid.
type choice struct {
	// Best is the index of the combination, −1 if the head refuses.
	Best int `json:"best"`
	// Accuracy holds the accuracies of all combinations.
	Accuracy []float64 `json:"accuracy"`
}

// Run measures all cells.
func Run(ctx context.Context, c Config, env experiment.Env) (experiment.Outcome, error) {
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
	out := Results{Kind: "closedset"}
	for i := range c.Rows {
		cells, err := r.row(ctx, i)
		if err != nil {
			return experiment.Outcome{}, fmt.Errorf("%s: %w", c.Rows[i].Name, err)
		}
		out.Cells = append(out.Cells, cells)
	}
	return c.outcome(out)
}

// A runner holds the state shared by all cells.
type runner struct {
	Config
	env         experiment.Env
	fingerprint string
	pool        pool
}

// row measures the cells of row i.
func (r runner) row(ctx context.Context, i int) ([]Cell, error) {
	row := r.Rows[i]
	variants := row.variants()
	var best choice
	var cells []Cell
	for _, classes := range r.Classes {
		if classes <= r.GridMost && len(variants) > 1 {
			var err error
			if best, err = r.choose(ctx, i, variants, classes); err != nil {
				return nil, err
			}
		}
		cell := Cell{Row: row.Name, Classes: classes}
		if best.Best >= 0 {
			v := variants[best.Best]
			if len(variants) > 1 {
				cell.Chosen, cell.Validation = maps.Clone(v.Set), best.Accuracy[best.Best]
				maps.DeleteFunc(cell.Chosen,
					func(key string, _ any) bool { _, varied := row.Grid[key]; return !varied })
			}
			var err error
			if cell.Accuracies, err = r.runs(ctx, i, v, classes); err != nil {
				return nil, err
			}
		}
		cells = append(cells, cell)
	}
	return cells, nil
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

// runs tests a variant in every draw.
func (r runner) runs(ctx context.Context, i int, v method.Variant, classes int) ([]float64, error) {
	var all []float64
	for run := range r.Runs {
		name := fmt.Sprintf("row%d_classes%d_run%d", i+1, classes, run+1)
		a, err := experiment.Part(ctx, r.env, name, r.inputs(v, classes, run), func() ([]float64, error) {
			s := r.pool.draw(r.Config, r.env.Seed, run, classes)
			a, err := r.measure(ctx, v, run, s.train, s.test)
			if refused(err) {
				return nil, nil
			}
			return []float64{a}, err
		})
		if err != nil || len(a) == 0 {
			return nil, err
		}
		all = append(all, a[0])
	}
	return all, nil
}

// inputs returns what a part depends on.
func (r runner) inputs(heads any, classes, run int) experiment.Inputs {
	return []any{r.fingerprint, r.env.Heads, heads, classes, run, r.PerClass, r.HeldOut}
}

// measure fits a head and returns its accuracy.
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

// A pool holds the images to draw from.
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

// A sample is the data of one comparison.
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
