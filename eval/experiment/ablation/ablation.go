package ablation

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/ppca"
	"github.com/seed-90d10d51/pipeline/eval/experiment"
	"github.com/seed-90d10d51/pipeline/eval/fscil"
	"github.com/seed-90d10d51/pipeline/method"
)

// A Result is one cell: results.json holds them under "results". All but NLL
// are fractions, means over runs.
type Result struct {
	Input  string  `json:"input"`
	Q      int     `json:"q"`
	Lambda float64 `json:"lambda"` // 0: chosen on the base session
	Runs   int     `json:"runs"`
	// Accuracy is that over all classes after the last session, Average the
	// mean over sessions.
	Accuracy float64  `json:"accuracy"`
	Average  float64  `json:"average_accuracy"`
	Base     float64  `json:"base_accuracy"`
	Novel    *float64 `json:"novel_accuracy"`
	NLLNats  float64  `json:"nll"`
}

// Results is results.json.
type Results struct {
	Kind    string   `json:"kind"`
	Results []Result `json:"results"`
}

// Run measures every input at every q and λ.
func Run(ctx context.Context, c Config, s experiment.Site) (experiment.Outcome, error) {
	inputs, err := c.inputs(s)
	if err != nil {
		return experiment.Outcome{}, err
	}
	r := Results{Kind: "ablation"}
	for i, in := range inputs {
		name, dir := split(in)
		m, err := s.Open(dir)
		if err != nil {
			return experiment.Outcome{}, fmt.Errorf("input %s: %w", name, err)
		}
		results, err := c.measure(ctx, s, name, fmt.Sprintf("input%d", i+1), m)
		if err != nil {
			return experiment.Outcome{}, fmt.Errorf("input %s: %w", name, err)
		}
		r.Results = append(r.Results, results...)
	}
	return c.outcome(r)
}

func (c Config) inputs(s experiment.Site) ([]string, error) {
	if len(c.Inputs) > 0 {
		return c.Inputs, nil
	}
	if s.Features == "" {
		return nil, &experiment.InputError{Err: errors.New("no embeddings: give a feature folder with --features, or several with experiment.ablation.inputs")}
	}
	return []string{s.Features}, nil
}

// measure takes one input through the grid. Every cell is a part.
func (c Config) measure(ctx context.Context, s experiment.Site, input, part string, m experiment.Material) ([]Result, error) {
	var results []Result
	for _, lambda := range c.Lambda {
		for _, q := range c.Q {
			cfg := method.Get[ppca.Config](s.Heads, "ppca")
			cfg.Q, cfg.Lambda = q, lambda
			name := fmt.Sprintf("%s_q%d_lambda%g", part, q, lambda)
			r, err := experiment.Part(ctx, s, name, []any{m.Fingerprint, cfg}, func() (Result, error) {
				return cell(ctx, s, cfg, m.Benches)
			})
			if err != nil {
				return nil, err
			}
			r.Input = input
			results = append(results, r)
		}
	}
	return results, nil
}

// cell runs one configuration on all benches.
func cell(ctx context.Context, s experiment.Site, cfg ppca.Config, benches []*fscil.Bench) (Result, error) {
	s.Heads = method.Change(s.Heads, "ppca", func(c *ppca.Config) { *c = cfg })
	s.Heads.WithoutStatistics = true
	var runs []fscil.Run
	for _, b := range benches {
		run, err := b.Run(ctx, func() (classifier.Learner, error) { return s.Head("ppca") }, nil)
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
