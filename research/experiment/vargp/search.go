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

// A trial is a combination with its accuracy on the images held out of all tasks of
// the first run, after the last one.
type trial struct {
	rate     float64
	inducing int
	beta     float64
	accuracy float64
}

func (s Search) draw(seed uint64, i int) trial {
	rng := random.Stream(seed, "experiment/vargp/search", i)
	return trial{
		rate:     s.Rate[0] * math.Pow(s.Rate[1]/s.Rate[0], rng.Float64()),
		inducing: s.Inducing[0] + rng.IntN(s.Inducing[1]-s.Inducing[0]+1),
		beta:     s.Beta[0] + (s.Beta[1]-s.Beta[0])*rng.Float64(),
	}
}

// search tries all combinations with the first variant, and takes the best one for
// all variants. It looks at no test image; what it held out also decides when a
// training stops, as in the paper.
func (r *runner) search(ctx context.Context) ([]trial, error) {
	trials := make([]trial, r.Search.Draws)
	held := *r
	held.src.of += "/held out"
	held.src.at = func(run, task int) (lesson, error) {
		l, err := r.src.at(run, task)
		if l.test = l.valid; err == nil && len(l.test.y) == 0 {
			err = experiment.Inputf("task %d: no image is held out to search by: raise experiment.vargp.train or "+
				"validation", task+1)
		}
		return l, err
	}
	err := parallel(ctx, len(trials), func(ctx context.Context, i int) error {
		trials[i] = r.Search.draw(r.env.Seed, i)
		one := held
		one.Rate, one.Beta = trials[i].rate, trials[i].beta
		one.prefix = fmt.Sprintf("search%d_", i+1)
		steps, err := one.follow(ctx, plan{r.Variants[0], trials[i].inducing}, 0)
		if err == nil {
			trials[i].accuracy = stat.Mean(steps[r.Tasks-1].Accuracy, nil)
		}
		return err
	})
	if err != nil || len(trials) == 0 {
		return nil, err
	}
	best := slices.MaxFunc(trials, func(a, b trial) int { return cmp.Compare(a.accuracy, b.accuracy) })
	r.Rate, r.Inducing, r.Beta = best.rate, best.inducing, best.beta
	return trials, nil
}

// searchTable lists the combinations, the best one first.
func (c Config) searchTable(trials []trial) table.Table {
	t := table.Table{
		Name: "search", Title: "Search for hyper-parameters (Table 2)",
		Note: fmt.Sprintf("Percent of the images held out of the training images of the first run, after the last "+
			"task; %s. The first row is used.", c.Variants[0]),
		Header: []string{"rate", "M", "β", "held out"},
	}
	trials = slices.Clone(trials)
	slices.SortStableFunc(trials, func(a, b trial) int { return cmp.Compare(b.accuracy, a.accuracy) })
	for _, s := range trials {
		t.Add(fmt.Sprintf("%.4f", s.rate), fmt.Sprint(s.inducing), fmt.Sprintf("%.1f", s.beta),
			table.Percent(s.accuracy))
	}
	return t
}
