package gpr

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-90d10d51/pipeline/classifier/gpr"
	"github.com/seed-90d10d51/pipeline/classifier/ncm"
	"github.com/seed-90d10d51/pipeline/eval/experiment"
	"github.com/seed-90d10d51/pipeline/method"
)

// Results is results.json.
type Results struct {
	Kind    string   `json:"kind"`
	Timings []Timing `json:"timings"` // Fig. 2
	// Accuracies are fractions, a row for every run; Fig. 3 after every class,
	// Fig. 4 after every step.
	Classes  *Accuracies `json:"classes"`
	Examples *Accuracies `json:"examples"`
}

// Accuracies are those of one figure.
type Accuracies struct {
	GPR Curve `json:"gpr"`
	NCM Curve `json:"ncm"`
	// Off is the largest difference in log-probability (nats) between
	// learning step by step and at once.
	Off float64 `json:"off_nats"`
}

// Run measures the figures.
func Run(ctx context.Context, c Config, s experiment.Site) (experiment.Outcome, error) {
	if s.Features == "" {
		return experiment.Outcome{}, &experiment.InputError{Err: errors.New("no embeddings: give a feature folder with --features")}
	}
	m, err := s.Open(s.Features)
	if err != nil {
		return experiment.Outcome{}, err
	}
	p := newPool(m.Benches[0])
	r := Results{Kind: "gpregression"}
	for _, n := range c.N {
		t, err := experiment.Part(ctx, s, fmt.Sprintf("timing_n%d", n), []any{m.Fingerprint, method.Get[gpr.Config](s.Heads, "gpr"), n, c.K, c.Repeats}, func() ([]Timing, error) {
			return c.timings(ctx, s, p, n)
		})
		if err != nil {
			return experiment.Outcome{}, err
		}
		r.Timings = append(r.Timings, t...)
	}
	if c.Classes > 0 {
		if r.Classes, err = c.accuracies(ctx, s, m, p, "classes", Config.byClass); err != nil {
			return experiment.Outcome{}, err
		}
		if r.Examples, err = c.accuracies(ctx, s, m, p, "examples", Config.byExamples); err != nil {
			return experiment.Outcome{}, err
		}
	}
	return c.outcome(r)
}

// accuracies measures one figure over all runs, each a part.
func (c Config) accuracies(ctx context.Context, s experiment.Site, m experiment.Material, p pool, figure string, sessions func(Config, [][]int) [][]int) (*Accuracies, error) {
	settings := c
	settings.N, settings.K, settings.Repeats, settings.Runs = nil, nil, 0, 0
	a := &Accuracies{}
	for i := range c.Runs {
		r, err := experiment.Part(ctx, s, fmt.Sprintf("%s_run%d", figure, i+1), []any{m.Fingerprint, method.Get[gpr.Config](s.Heads, "gpr"), method.Get[ncm.Config](s.Heads, "ncm"), settings, i}, func() (run, error) {
			train, test, err := p.draw(c, s.Seed, i)
			if err != nil {
				return run{}, err
			}
			return c.follow(ctx, s, p, sessions(c, train), test)
		})
		if err != nil {
			return nil, err
		}
		a.GPR, a.NCM, a.Off = append(a.GPR, r.GPR), append(a.NCM, r.NCM), max(a.Off, r.Off)
	}
	return a, nil
}
