package vargp

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/internal/setting"
	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/grid"
	"github.com/seed-90d10d51/pipeline/research/table"
)

// Search holds the paper's search for hyper-parameters (appendix D.1, Table 2): Draws
// combinations, the rate drawn from a logarithmic scale, M and β uniformly, each
// between two values. 0 draws means no search.
type Search struct {
	Draws    int       `mapstructure:"draws"`
	Rate     []float64 `mapstructure:"rate"`
	Inducing []int     `mapstructure:"inducing"`
	Beta     []float64 `mapstructure:"beta"`
}

func (s Search) validate() error {
	if err := setting.Int("search.draws", s.Draws, 0, 1000); err != nil {
		return err
	}
	return cmp.Or(between("search.rate", s.Rate, 1e-6, 1), between("search.inducing", s.Inducing, 1, 1<<12),
		between("search.beta", s.Beta, 1e-3, 1e3))
}

func between[T int | float64](name string, ends []T, least, most T) error {
	if len(ends) != 2 || ends[0] < least || ends[1] < ends[0] || ends[1] > most {
		return fmt.Errorf("%s: %v are not two values, the smaller one first, from %v to %v", name, ends, least, most)
	}
	return nil
}

// draw draws combination i: the rate, M and β.
func (s Search) draw(seed uint64, i int) grid.Values {
	rng := random.Stream(seed, "experiment/vargp/search", i)
	return grid.Values{
		"rate": s.Rate[0] * math.Pow(s.Rate[1]/s.Rate[0], rng.Float64()),
		"M":    float64(s.Inducing[0] + rng.IntN(s.Inducing[1]-s.Inducing[0]+1)),
		"β":    s.Beta[0] + (s.Beta[1]-s.Beta[0])*rng.Float64(),
	}
}

// heldOut returns the source with the images held out in place of test images.
func (s source) heldOut() source {
	return source{of: s.of + "/held out", at: func(run, task int) (lesson, error) {
		l, err := s.at(run, task)
		if l.test = l.valid; err == nil && len(l.test.y) == 0 {
			err = experiment.Inputf("task %d: no image is held out to search by: raise experiment.vargp.train or "+
				"validation", task+1)
		}
		return l, err
	}}
}

// search tries all combinations with the first variant, and takes the best one for
// all variants. It looks at no test image; what it held out also decides when a
// training stops, as in the paper. The held-out accuracy is that on the images held out of
// all tasks of the first run, after the last one; the best cell comes first.
func (r *runner) search(ctx context.Context) (grid.Grid, error) {
	trials := make([]grid.Values, r.Search.Draws)
	held := *r
	held.src = r.src.heldOut()
	err := parallel(ctx, len(trials), func(ctx context.Context, i int) error {
		t := r.Search.draw(r.env.Seed, i)
		one := held
		one.Rate, one.Beta = t["rate"], t["β"]
		one.prefix = fmt.Sprintf("search%d_", i+1)
		steps, err := one.follow(ctx, plan{r.Variants[0], int(t["M"])}, 0)
		if err == nil {
			t["held_out_accuracy"] = stat.Mean(steps[r.Tasks-1].Accuracy, nil)
		}
		trials[i] = t
		return err
	})
	if err != nil || len(trials) == 0 {
		return nil, err
	}
	var cells grid.Grid
	for i, t := range trials {
		cells.Add(grid.At("search", i+1), t)
	}
	slices.SortStableFunc(cells, func(a, b grid.Cell) int {
		return cmp.Compare(b.Values["held_out_accuracy"][0], a.Values["held_out_accuracy"][0])
	})
	best := cells[0].Values
	r.Rate, r.Inducing, r.Beta = best["rate"][0], int(best["M"][0]), best["β"][0]
	return cells, nil
}

// searchTable lists the combinations, the best one first.
func (c Config) searchTable(trials grid.Grid) table.Table {
	return trials.Table(table.Table{
		Name: "search", Title: "Search for hyper-parameters (Table 2)",
		Note: fmt.Sprintf("Percent of the images held out of the training images of the first run, after the last "+
			"task; %s. The first row is used.", c.Variants[0]),
	}, []string{"search"},
		grid.Column{Title: "rate", Of: "rate", Show: grid.Mean("%.4f", 1)},
		grid.Column{Title: "M", Of: "M", Show: grid.Mean("%.0f", 1)},
		grid.Column{Title: "β", Of: "β", Show: grid.Mean("%.1f", 1)},
		grid.Column{Title: "held out", Of: "held_out_accuracy", Show: grid.Percent})
}
