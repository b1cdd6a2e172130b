// Package ablation measures how the accuracy of PPCA depends on the number of
// components q, the noise variance λ, and the size of the backbone's input:
// Tables 3.2 to 3.4 of Wang, "Incremental and Hierarchical Probabilistic PCA",
// 2023, in shape.
//
//	symbol      field   meaning
//	q           Q       components of a class
//	λ           Lambda  noise variance; 0 means chosen on the base session
//	input size  Inputs  one feature folder per size
//
// Accuracy is taken over all classes after the last session, as in the paper's
// PPCA rows, although its tables call it average; the average over sessions is
// in results.json. PPCA learns each class independently, so the order of
// sessions does not change it.
//
// Input sizes are feature folders, made with pipeline embed once per size
// (preprocess.size, preprocess.crop and extractor.side). Published rows follow
// ours, with their data set and backbone; where those differ they are not
// comparable.
//
// Cost: inputs × q × λ × runs fits of PPCA, each saved when it is finished.
package ablation

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/ppca"
	"github.com/seed-90d10d51/pipeline/internal/chart"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/grid"
	"github.com/seed-90d10d51/pipeline/research/table"
)

// Config holds what is varied. All other settings of PPCA are those of
// classifier.ppca.
type Config struct {
	// Inputs are feature folders, FEATDIR or NAME=FEATDIR; if empty, the folder
	// given with --features.
	Inputs []string `mapstructure:"inputs" json:"inputs"`
	// Q are the numbers of components.
	Q []int `mapstructure:"q" json:"q"`
	// Lambda are the noise variances; 0 means chosen on the base session.
	Lambda []float64 `mapstructure:"lambda" json:"lambda"`
	// Published is the table whose rows follow ours: table3_2, table3_3,
	// table3_4, or "".
	Published string `mapstructure:"published" json:"published"`
}

// DefaultConfig returns the components of Table 3.4 at λ = 0.01.
func DefaultConfig() Config {
	return Config{Inputs: []string{}, Q: []int{0, 5, 10, 20, 50, 100, 200}, Lambda: []float64{0.01}}
}

// Validate returns an error that names the first field out of range.
func (c Config) Validate() error {
	if len(c.Q) == 0 {
		return fmt.Errorf("q: is empty; give at least one number of components")
	}
	if err := experiment.EachWithin("q", c.Q, 0, 1<<16); err != nil {
		return err
	}
	if len(c.Lambda) == 0 {
		return fmt.Errorf("lambda: is empty; give at least one noise variance")
	}
	if err := experiment.Each("lambda", c.Lambda, "0 or in 1e-12 … 1e12",
		func(l float64) bool { return l == 0 || l >= 1e-12 && l <= 1e12 }); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, in := range c.Inputs {
		name, dir := split(in)
		if name == "" || dir == "" {
			return fmt.Errorf("inputs: %q is neither FEATDIR nor NAME=FEATDIR", in)
		}
		if seen[name] {
			return fmt.Errorf("inputs: two are called %q; write NAME=FEATDIR", name)
		}
		seen[name] = true
	}
	_, err := c.published()
	return err
}

func (c Config) published() (experiment.Published, error) {
	return experiment.PublishedTable(c.Published, "table3_2", "table3_3", "table3_4")
}

// split splits NAME=FEATDIR; the default name is the last part of the path,
// with either separator.
func split(input string) (name, dir string) {
	if name, dir, ok := strings.Cut(input, "="); ok {
		return name, dir
	}
	name = strings.TrimRight(input, `/\`)
	return name[strings.LastIndexAny(name, `/\`)+1:], input
}

// Run measures every input at every λ and q.
func (c Config) Run(ctx context.Context, env experiment.Env) (experiment.Outcome, error) {
	inputs := c.Inputs
	if len(inputs) == 0 {
		if env.Features == "" {
			return experiment.Outcome{}, experiment.Inputf("no embeddings: give a feature folder with --features, " +
				"or several with experiment.ablation.inputs")
		}
		inputs = []string{env.Features}
	}
	var cells grid.Grid
	for i, in := range inputs {
		name, dir := split(in)
		m, err := env.Open(dir)
		if err != nil {
			return experiment.Outcome{}, fmt.Errorf("input %s: %w", name, err)
		}
		own, err := env.Measure(ctx, c.tasks(env, i, name, m)...)
		if err != nil {
			return experiment.Outcome{}, fmt.Errorf("input %s: %w", name, err)
		}
		cells.Join(own)
	}
	return c.outcome(cells)
}

func (c Config) tasks(env experiment.Env, i int, name string, m experiment.Material) []experiment.Task {
	var tasks []experiment.Task
	for _, lambda := range c.Lambda {
		for _, q := range c.Q {
			own := env
			own.Heads = method.Change(env.Heads, "ppca", func(c *ppca.Config) { c.Q, c.Lambda = q, lambda })
			own.Heads.WithoutStatistics = true
			for run, b := range m.Benches {
				tasks = append(tasks, experiment.Task{
					Name: fmt.Sprintf("input%d_q%d_lambda%g_run%d", i+1, q, lambda, run+1),
					Of:   []any{m.Fingerprint, name, method.Get[ppca.Config](own.Heads, "ppca"), run},
					Measure: func(ctx context.Context) (grid.Grid, error) {
						run, err := b.Run(ctx, func() (classifier.Learner, error) { return own.Head("ppca") }, nil)
						if err != nil {
							return nil, err
						}
						return grid.One(grid.At("input", name, "λ", lambdaText(lambda), "q", q), run.Values()), nil
					},
				})
			}
		}
	}
	return tasks
}

func lambdaText(l float64) string {
	if l == 0 {
		return "auto"
	}
	return strconv.FormatFloat(l, 'g', -1, 64)
}

func (c Config) outcome(cells grid.Grid) (experiment.Outcome, error) {
	byQ, err := c.byQ(cells)
	o := experiment.Outcome{
		Title:   "PPCA by components, noise variance and input",
		Results: experiment.Results{Kind: "ablation", Cells: cells},
		Tables:  []table.Table{byQ}, Figures: []chart.Figure{figure(cells, "q", "by_q", "components q")},
	}
	if len(c.Lambda) > 1 {
		o.Tables = append(o.Tables, cells.Table(table.Table{
			Name: "by_lambda", Title: "Accuracy by noise variance", Note: "The same cells as above, by λ.",
		}, []string{"input", "q"}, cells.Across("λ", "λ = %s", "accuracy", grid.Percent)...))
		o.Figures = append(o.Figures, figure(cells, "λ", "by_lambda", "noise variance λ"))
	}
	if len(c.Inputs) > 1 {
		o.Figures = append(o.Figures, figure(cells, "input", "by_input", "input"))
	}
	return o, err
}

// byQ returns the table in the paper's form, with one column per q.
func (c Config) byQ(cells grid.Grid) (table.Table, error) {
	source := "this run"
	if runs := len(cells[0].Values["accuracy"]); runs > 1 {
		source = fmt.Sprintf("these %d runs", runs)
	}
	columns := append([]grid.Column{{Title: "source", Of: "accuracy", Show: func([]float64) string { return source }}},
		cells.Across("q", "q = %s", "accuracy", grid.Percent)...)
	t := cells.Table(table.Table{
		Name: "by_q", Title: "Accuracy by number of components",
		Note: "Percent, over all classes after the last session. Published rows use other data or backbones.",
	}, []string{"input", "λ"}, columns...)
	p, err := c.published()
	for i, r := range p.Rows {
		t.Add(append([]string{r.Name, "0.01", p.Title}, p.Cells(i, c.Q)...)...)
	}
	return t, err
}

// figure draws accuracy by one of the axes, with a line for each combination of the
// other two.
func figure(cells grid.Grid, x, name, title string) chart.Figure {
	axes := chart.Axes{Title: "PPCA, accuracy over all classes · after the last session", X: title, Y: "accuracy (%)",
		LogX: x == "λ" && !slices.Contains(cells.Axis(x), "auto")}
	by := slices.DeleteFunc([]string{"input", "λ", "q"}, func(a string) bool { return a == x })
	return cells.Figure(name, axes, grid.Lines{X: x, Y: "accuracy", Scale: 100, By: by})
}
