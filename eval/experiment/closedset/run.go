package closedset

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/seed-90d10d51/pipeline/classifier/gpc"
	"github.com/seed-90d10d51/pipeline/eval/experiment"
	"github.com/seed-90d10d51/pipeline/method"
)

// Results is results.json.
type Results struct {
	Kind string `json:"kind"`
	// Cells by row, and in each by number of classes.
	Cells [][]Cell `json:"cells"`
}

// A Cell is what a row reaches at a number of classes.
type Cell struct {
	Row     string `json:"row"`
	Classes int    `json:"classes"`
	// Chosen are the values of the grid, and Validation their mean accuracy on
	// the images that they were chosen on.
	Chosen     map[string]any `json:"chosen,omitempty"`
	Validation float64        `json:"validation,omitempty"`
	// Accuracies on the test images, a fraction for every run; none where the
	// head refuses so many examples.
	Accuracies []float64 `json:"accuracies"`
}

// A choice is of one row's grid.
type choice struct {
	// Best is the number of the combination, −1 where the head refuses.
	Best int `json:"best"`
	// Accuracy has those of all combinations.
	Accuracy []float64 `json:"accuracy"`
}

// Run measures the table.
func Run(ctx context.Context, c Config, s experiment.Env) (experiment.Outcome, error) {
	if err := c.ready(s); err != nil {
		return experiment.Outcome{}, &experiment.InputError{Err: err}
	}
	m, err := s.Open(s.Features)
	if err != nil {
		return experiment.Outcome{}, err
	}
	p, err := c.pool(m)
	if err != nil {
		return experiment.Outcome{}, err
	}
	l := runner{Config: c, env: s, fingerprint: m.Fingerprint, pool: p}
	r := Results{Kind: "closedset"}
	for i := range c.Rows {
		cells, err := l.row(ctx, i)
		if err != nil {
			return experiment.Outcome{}, fmt.Errorf("%s: %w", c.Rows[i].Name, err)
		}
		r.Cells = append(r.Cells, cells)
	}
	return c.outcome(r)
}

// ready checks what the settings alone cannot.
func (c Config) ready(s experiment.Env) error {
	if s.Features == "" {
		return errors.New("no embeddings: give a feature folder with --features")
	}
	if len(c.Rows) == 0 {
		return errors.New("experiment.closedset.rows is empty: say which heads to compare, or take a built-in configuration such as cub200_table1")
	}
	if err := c.validateRows(s.Heads); err != nil {
		return fmt.Errorf("experiment.closedset.%w", err)
	}
	return nil
}

// A runner is what all cells share.
type runner struct {
	Config
	env         experiment.Env
	fingerprint string
	pool        pool
}

// row measures the cells of one.
func (l runner) row(ctx context.Context, i int) ([]Cell, error) {
	row := l.Rows[i]
	variants := row.variants()
	var best choice
	var cells []Cell
	for _, classes := range l.Classes {
		if classes <= l.GridMost {
			var err error
			if best, err = l.choose(ctx, i, variants, classes); err != nil {
				return nil, err
			}
		}
		cell := Cell{Row: row.Name, Classes: classes}
		if best.Best >= 0 {
			v := variants[best.Best]
			if len(row.Grid) > 0 {
				cell.Chosen, cell.Validation = maps.Clone(v.Set), best.Accuracy[best.Best]
				maps.DeleteFunc(cell.Chosen, func(key string, _ any) bool { _, varied := row.Grid[key]; return !varied })
			}
			var err error
			if cell.Accuracies, err = l.runs(ctx, i, v, classes); err != nil {
				return nil, err
			}
		}
		cells = append(cells, cell)
	}
	return cells, nil
}

// choose returns the best combination on the validation images; where there is
// only one, without fitting it.
func (l runner) choose(ctx context.Context, i int, variants []method.Variant, classes int) (choice, error) {
	if len(variants) == 1 {
		return choice{}, nil
	}
	name := fmt.Sprintf("row%d_classes%d_choice", i+1, classes)
	return experiment.Part(ctx, l.env, name, l.inputs(variants, classes, l.GridRuns), func() (choice, error) {
		c := choice{Best: -1}
		for k, v := range variants {
			var sum float64
			for run := range l.GridRuns {
				s := l.pool.draw(l.Config, l.env.Seed, run, classes)
				a, err := l.measure(ctx, v, run, s.train, s.validation)
				if refused(err) {
					return choice{Best: -1}, nil
				}
				if err != nil {
					return c, err
				}
				sum += a / float64(l.GridRuns)
			}
			if c.Accuracy = append(c.Accuracy, sum); c.Best < 0 || sum > c.Accuracy[c.Best] {
				c.Best = k
			}
		}
		return c, nil
	})
}

// runs tests a variant in all draws.
func (l runner) runs(ctx context.Context, i int, v method.Variant, classes int) ([]float64, error) {
	var all []float64
	for run := range l.Runs {
		name := fmt.Sprintf("row%d_classes%d_run%d", i+1, classes, run+1)
		a, err := experiment.Part(ctx, l.env, name, l.inputs(v, classes, run), func() ([]float64, error) {
			s := l.pool.draw(l.Config, l.env.Seed, run, classes)
			a, err := l.measure(ctx, v, run, s.train, s.test)
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

// inputs is what a part depends on.
func (l runner) inputs(heads any, classes, run int) experiment.Inputs {
	return []any{l.fingerprint, l.env.Heads, heads, classes, run, l.PerClass, l.HeldOut}
}

// measure fits a head and returns its accuracy.
func (l runner) measure(ctx context.Context, v method.Variant, run int, train, test experiment.Labelled) (float64, error) {
	settings, err := v.Settings(l.env.Heads)
	if err != nil {
		return 0, err
	}
	env := l.env
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

// refused says that a head cannot take so many examples.
func refused(err error) bool {
	var many *gpc.TooManyError
	return errors.As(err, &many)
}
