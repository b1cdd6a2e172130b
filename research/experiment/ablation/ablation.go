package ablation

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/ppca"
	"github.com/seed-90d10d51/pipeline/internal/chart"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/fscil"
	"github.com/seed-90d10d51/pipeline/research/table"
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
			return experiment.Outcome{}, experiment.Inputf("no embeddings: give a feature folder with --features, " +
				"or several with experiment.ablation.inputs")
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

// outcome turns the cells, ordered by input, λ and q, into tables and figures.
func (c Config) outcome(r Results) (experiment.Outcome, error) {
	best := slices.MaxFunc(r.Results, func(a, b Result) int { return cmp.Compare(a.Accuracy, b.Accuracy) })
	byQ, err := c.byQ(r.Results)
	o := experiment.Outcome{
		Title: "PPCA by components, noise variance and input", Results: r, Tables: []table.Table{byQ},
		Figures: c.figures(r.Results),
		Findings: []string{fmt.Sprintf("Best of %d settings: %s %% with q = %d, λ = %s on %s; chosen on test images "+
			"and therefore optimistic.",
			len(r.Results), table.Percent(best.Accuracy), best.Q, lambdaText(best.Lambda), best.Input)},
	}
	if len(c.Lambda) > 1 {
		o.Tables = append(o.Tables, c.byLambda(r.Results))
	}
	return o, err
}

// byQ returns the table in the paper's form, with one column per q.
func (c Config) byQ(cells []Result) (table.Table, error) {
	t := table.Table{
		Name: "by_q", Title: "Accuracy by number of components",
		Note:   "Percent, over all classes after the last session. Published rows use other data or backbones.",
		Header: []string{"input", "λ", "source"},
	}
	for _, q := range c.Q {
		t.Header = append(t.Header, fmt.Sprintf("q = %d", q))
	}
	for own := range slices.Chunk(cells, len(c.Q)) {
		source := "this run"
		if own[0].Runs > 1 {
			source = fmt.Sprintf("these %d runs", own[0].Runs)
		}
		row := []string{own[0].Input, lambdaText(own[0].Lambda), source}
		for _, r := range own {
			row = append(row, table.Percent(r.Accuracy))
		}
		t.Add(row...)
	}
	p, err := c.published()
	for i, r := range p.Rows {
		t.Add(append([]string{r.Name, "0.01", p.Title}, p.Cells(i, c.Q)...)...)
	}
	return t, err
}

// byLambda returns a table with one column per λ.
func (c Config) byLambda(cells []Result) table.Table {
	t := table.Table{
		Name: "by_lambda", Title: "Accuracy by noise variance",
		Note: "The same cells as above, by λ.", Header: []string{"input", "q"},
	}
	for _, l := range c.Lambda {
		t.Header = append(t.Header, "λ = "+lambdaText(l))
	}
	for own := range slices.Chunk(cells, len(c.Q)*len(c.Lambda)) {
		for k, q := range c.Q {
			row := []string{own[0].Input, strconv.Itoa(q)}
			for l := range c.Lambda {
				row = append(row, table.Percent(own[l*len(c.Q)+k].Accuracy))
			}
			t.Add(row...)
		}
	}
	return t
}

func lambdaText(l float64) string {
	if l == 0 {
		return "auto"
	}
	return strconv.FormatFloat(l, 'g', -1, 64)
}

// figures draws accuracy by q, and by λ and by input if there are several, with
// one line per combination of the other two.
func (c Config) figures(cells []Result) []chart.Figure {
	var axes [3][]string
	for own := range slices.Chunk(cells, len(c.Q)*len(c.Lambda)) {
		axes[0] = append(axes[0], own[0].Input)
	}
	for _, l := range c.Lambda {
		axes[1] = append(axes[1], lambdaText(l))
	}
	axes[2] = table.Numbers(c.Q)
	label := func(axis, i int) string {
		if len(axes[axis]) < 2 && axis != 0 {
			return ""
		}
		return [3]string{"", " λ=", " q="}[axis] + axes[axis][i]
	}
	at := [3][]float64{1: c.Lambda} // the numbers of an axis, nil for names
	for _, q := range c.Q {
		at[2] = append(at[2], float64(q))
	}
	if slices.Contains(c.Lambda, 0) {
		at[1] = nil // chosen, so not a number
	}
	var figures []chart.Figure
	for _, f := range []struct {
		name, x string
		axis    int
	}{{"by_q", "components q", 2}, {"by_lambda", "noise variance λ", 1}, {"by_input", "input", 0}} {
		if f.axis != 2 && len(axes[f.axis]) < 2 {
			continue
		}
		x := chart.Axes{Title: "PPCA, accuracy over all classes · after the last session", X: f.x, Y: "accuracy (%)",
			LogX: f.axis == 1 && at[1] != nil}
		if at[f.axis] == nil {
			x.Names = axes[f.axis]
		}
		a, b := min((f.axis+1)%3, (f.axis+2)%3), max((f.axis+1)%3, (f.axis+2)%3)
		var lines []chart.Series
		for i := range axes[a] {
			for j := range axes[b] {
				s := chart.Series{Label: label(a, i) + label(b, j), Colour: chart.Palette(len(lines)), X: at[f.axis]}
				for k := range axes[f.axis] {
					var of [3]int
					of[a], of[b], of[f.axis] = i, j, k
					cell := cells[(of[0]*len(axes[1])+of[1])*len(axes[2])+of[2]]
					s.Y = append(s.Y, math.Round(1e6*cell.Accuracy)/1e4)
				}
				lines = append(lines, s)
			}
		}
		figures = append(figures, chart.Lines(f.name, x, lines))
	}
	return figures
}
