package ablation

import (
	"context"
	"fmt"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/ppca"
	"github.com/seed-90d10d51/pipeline/eval/experiment"
	"github.com/seed-90d10d51/pipeline/eval/fscil"
	"github.com/seed-90d10d51/pipeline/method"
)

// A Result is one cell; results.json lists them under "results". All values
// except NLL are fractions, averaged over runs.
type Result struct {
	Input  string  `json:"input"`
	Q      int     `json:"q"`
	Lambda float64 `json:"lambda"` // 0: chosen on the base session
	Runs   int     `json:"runs"`
	// Accuracy is taken over all classes after the last session; Average is the
	// mean over sessions.
	Accuracy float64  `json:"accuracy"`
	Average  float64  `json:"average_accuracy"`
	Base     float64  `json:"base_accuracy"`
	Novel    *float64 `json:"novel_accuracy"`
	NLLNats  float64  `json:"nll"`
}

// Results is the content of results.json.
type Results struct {
	Kind    string   `json:"kind"`
	Results []Result `json:"results"`
}

// Run measures every input at every q and λ. Each cell is a part.
func Run(ctx context.Context, c Config, env experiment.Env) (experiment.Outcome, error) {
	inputs := c.Inputs
	if len(inputs) == 0 {
		if env.Features == "" {
			return experiment.Outcome{}, experiment.Inputf("no embeddings: give a feature folder with --features, or several with experiment.ablation.inputs")
		}
		inputs = []string{env.Features}
	}
	r := Results{Kind: "ablation"}
	for i, in := range inputs {
		name, dir := split(in)
		m, err := env.Open(dir)
		if err != nil {
			return experiment.Outcome{}, fmt.Errorf("input %s: %w", name, err)
		}
		for _, lambda := range c.Lambda {
			for _, q := range c.Q {
				cfg := method.Get[ppca.Config](env.Heads, "ppca")
				cfg.Q, cfg.Lambda = q, lambda
				part := fmt.Sprintf("input%d_q%d_lambda%g", i+1, q, lambda)
				cell, err := experiment.Part(ctx, env, part, []any{m.Fingerprint, cfg}, func() (Result, error) {
					return measure(ctx, env, cfg, m.Benches)
				})
				if err != nil {
					return experiment.Outcome{}, fmt.Errorf("input %s: %w", name, err)
				}
				cell.Input = name
				r.Results = append(r.Results, cell)
			}
		}
	}
	return c.outcome(r)
}

// measure runs one configuration on all benches.
func measure(ctx context.Context, env experiment.Env, cfg ppca.Config, benches []*fscil.Bench) (Result, error) {
	env.Heads = method.Change(env.Heads, "ppca", func(c *ppca.Config) { *c = cfg })
	env.Heads.WithoutStatistics = true
	var runs []fscil.Run
	for _, b := range benches {
		run, err := b.Run(ctx, func() (classifier.Learner, error) { return env.Head("ppca") }, nil)
		if err != nil {
			return Result{}, err
		}
		runs = append(runs, run)
	}
	sum, err := fscil.Summarise(fscil.Info{Method: "ppca"}, runs)
	if err != nil {
		return Result{}, err
	}
	last := sum.Sessions[len(sum.Sessions)-1]
	return Result{
		Q: cfg.Q, Lambda: cfg.Lambda, Runs: sum.Runs, Accuracy: sum.FinalAccuracy, Average: sum.AverageAccuracy,
		Base: last.Base, Novel: last.Novel, NLLNats: last.NLLNats,
	}, nil
}
