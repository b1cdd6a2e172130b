package vargp

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

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

// between returns an error unless ends are two values in order, from least to most.
func between[T int | float64](name string, ends []T, least, most T) error {
	if len(ends) != 2 || ends[0] < least || ends[1] < ends[0] || ends[1] > most {
		return fmt.Errorf("%s: %v are not two values, the smaller one first, from %v to %v", name, ends, least, most)
	}
	return nil
}

// A Trial is a combination with its accuracy on the images held out of all tasks of
// the first run, after the last one.
type Trial struct {
	Rate     float64 `json:"rate"`
	Inducing int     `json:"inducing"`
	Beta     float64 `json:"beta"`
	Accuracy float64 `json:"accuracy"`
}

// trial draws a combination.
func (s Search) trial(seed uint64, i int) Trial {
	rng := random.Stream(seed, "experiment/vargp/search", i)
	return Trial{
		Rate:     s.Rate[0] * math.Pow(s.Rate[1]/s.Rate[0], rng.Float64()),
		Inducing: s.Inducing[0] + rng.IntN(s.Inducing[1]-s.Inducing[0]+1),
		Beta:     s.Beta[0] + (s.Beta[1]-s.Beta[0])*rng.Float64(),
	}
}

// search tries all combinations with the first variant, and takes the best one for
// all variants. It looks at no test image; what it held out also decides when a
// training stops, as in the paper.
func (r *runner) search(ctx context.Context) ([]Trial, error) {
	trials := make([]Trial, r.Search.Draws)
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
		trials[i] = r.Search.trial(r.env.Seed, i)
		one := held
		one.Rate, one.Beta = trials[i].Rate, trials[i].Beta
		one.prefix = fmt.Sprintf("search%d_", i+1)
		result, err := one.follow(ctx, plan{r.Variants[0], trials[i].Inducing}, 0)
		if err == nil {
			trials[i].Accuracy = result.final()
		}
		return err
	})
	if err != nil || len(trials) == 0 {
		return nil, err
	}
	best := slices.MaxFunc(trials, func(a, b Trial) int { return cmp.Compare(a.Accuracy, b.Accuracy) })
	r.Rate, r.Inducing, r.Beta = best.Rate, best.Inducing, best.Beta
	return trials, nil
}

// searchTable lists the combinations, the best one first.
func (c Config) searchTable(trials []Trial) table.Table {
	t := table.Table{
		Name: "search", Title: "Search for hyper-parameters (Table 2)",
		Note: fmt.Sprintf("Percent of the images held out of the training images of the first run, after the last "+
			"task; %s. The first row is used.", c.Variants[0]),
		Header: []string{"rate", "M", "β", "held out"},
	}
	trials = slices.Clone(trials)
	slices.SortStableFunc(trials, func(a, b Trial) int { return cmp.Compare(b.Accuracy, a.Accuracy) })
	for _, s := range trials {
		t.Add(fmt.Sprintf("%.4f", s.Rate), fmt.Sprint(s.Inducing), fmt.Sprintf("%.1f", s.Beta),
			table.Percent(s.Accuracy))
	}
	return t
}
