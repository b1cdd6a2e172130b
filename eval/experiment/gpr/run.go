package gpr

import (
	"context"
	"fmt"

	"github.com/seed-90d10d51/pipeline/classifier/gpr"
	"github.com/seed-90d10d51/pipeline/eval/experiment"
	"github.com/seed-90d10d51/pipeline/method"
)

// Results is the content of results.json.
type Results struct {
	Kind    string   `json:"kind"`
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
	m, err := env.Material()
	if err != nil {
		return experiment.Outcome{}, err
	}
	r := runner{Config: c, env: env, fingerprint: m.Fingerprint}
	r.train, r.test = experiment.All(m.Benches[0])
	out := Results{Kind: "gpr"}
	for _, n := range c.N {
		t, err := experiment.Part(ctx, env, fmt.Sprintf("timing_n%d", n), []any{m.Fingerprint, method.Get[gpr.Config](env.Heads, "gpr"), n, c.K, c.Repeats}, func() ([]Timing, error) {
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
