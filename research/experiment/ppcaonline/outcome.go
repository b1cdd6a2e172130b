package ppcaonline

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/classifier/ppcaonline/engine"
	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/table"
)

// results is the content of results.json.
type results struct {
	Kind   string `json:"kind"`
	Figure int    `json:"figure"`
	Seeds  int    `json:"seeds"`
	// Classes holds the names of the classes, Steps the points of the curves.
	Classes []string  `json:"classes"`
	Steps   []float64 `json:"steps,omitempty"`
	// Chosen has every form of learning with the β chosen on validation data,
	// Grid every setting tried.
	Chosen []Row `json:"chosen"`
	Grid   []Row `json:"grid"`
	// Curves are the curves drawn, averaged over seeds, one row per class; in
	// Figure 4 the matrices.
	Curves []Curve `json:"curves"`
	// Findings are the findings in table.md.
	Findings []string `json:"findings"`
}

// A Curve is a setting with its test log-likelihood, in nats per example.
type Curve struct {
	variant
	Test [][]float64 `json:"test"`
}

func (c Config) outcome(seeds [][]trial) experiment.Outcome {
	rows := c.rows(seeds)
	chosen := c.chosen(rows)
	r := results{Kind: "ppca-online", Figure: c.Figure, Seeds: len(seeds), Classes: c.names(), Chosen: chosen,
		Grid: rows}
	if c.Figure != 4 {
		r.Steps = c.steps()
	}
	drawn := c.drawn(chosen)
	for _, d := range drawn {
		r.Curves = append(r.Curves, Curve{d.variant, meanTest(seeds, d.index)})
	}
	r.Findings = c.findings(chosen, drawn)
	return experiment.Outcome{
		Title:    fmt.Sprintf("NAT-oEM, Figure %d: %s", c.Figure, c.subject()),
		Findings: r.Findings, Results: r, Tables: c.tables(chosen, rows), Figures: c.figures(seeds, chosen, r),
	}
}

func (c Config) subject() string {
	return []string{
		"independent examples", "one class after the other", "what is forgotten of every class",
		"interference between two classes",
	}[c.Figure-1]
}

// names returns A, B, ….
func (c Config) names() []string {
	names := make([]string, c.Classes)
	for i := range names {
		names[i] = string(rune('A' + i))
	}
	return names
}

// drawn returns the settings that the figure shows: plain online EM and the
// step policy with the first γ, and the class policy with the last γ and with
// the first. The R-step is the first of the configuration.
func (c Config) drawn(chosen []Row) []Row {
	wanted := []variant{{Policy: engine.None, Gamma: c.Gamma[0]}}
	form := variant{RStep: c.RStep[0], Fisher: c.Fisher[0]}
	if form.RStep == engine.Identity {
		form.Fisher = ""
	}
	for _, p := range c.policies() {
		for _, gamma := range []float64{c.Gamma[len(c.Gamma)-1], c.Gamma[0]} {
			if p == engine.Step && gamma != c.Gamma[0] {
				continue
			}
			form.Policy, form.Gamma = p, gamma
			wanted = append(wanted, form)
		}
	}
	var drawn []Row
	for _, w := range wanted {
		i := slices.IndexFunc(chosen, func(r Row) bool { return r.form() == w })
		if i >= 0 && (len(drawn) == 0 || drawn[len(drawn)-1].index != chosen[i].index) {
			drawn = append(drawn, chosen[i])
		}
	}
	return drawn
}

// meanTest returns the mean over seeds of a setting's test values.
func meanTest(seeds [][]trial, i int) [][]float64 {
	out := make([][]float64, len(seeds[0][i].Test))
	for k, row := range seeds[0][i].Test {
		out[k] = make([]float64, len(row))
		for _, trials := range seeds {
			floats.AddScaled(out[k], 1/float64(len(seeds)), trials[i].Test[k])
		}
	}
	return out
}

// text names a setting, with its R-step and Fisher information only if form is
// set.
func (s variant) text(form bool) string {
	text := s.Policy
	if form && s.RStep != "" {
		text += ", R-step " + s.RStep
	}
	if form && s.Fisher != "" {
		text += ", Fisher " + s.Fisher
	}
	text += ", γ " + number(s.Gamma)
	if s.Policy != engine.None {
		text += ", β " + number(s.Beta)
	}
	return text
}

func (s variant) String() string { return s.text(true) }

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func (s Spread) text(plus bool) string {
	format := "%.3f ± %.3f"
	switch {
	case plus && s.Mean != 0 && math.Abs(s.Mean) < 1e-3:
		format = "%+.0e ± %.0e"
	case plus:
		format = "%+.3f ± %.3f"
	}
	return fmt.Sprintf(format, s.Mean, s.SD)
}

// gain formats a difference with the number of seeds on which it is positive.
func (s Spread) gain() string {
	return fmt.Sprintf("%s (%d/%d)", s.text(true), s.Above, len(s.Seeds))
}

// conclusion summarises a difference in a word.
func (s Spread) conclusion() string {
	return map[int]string{1: "better", -1: "worse", 0: "no clear difference"}[s.sign()]
}

func (c Config) tables(chosen, rows []Row) []table.Table {
	list := func(values []float64) string {
		return strings.Trim(strings.ReplaceAll(fmt.Sprint(values), " ", ", "), "[]")
	}
	note := fmt.Sprintf("Nats per example on test data, mean ± standard deviation over %d seeds; in brackets the "+
		"number of seeds on which a difference is positive. "+
		"Differences are to plain online EM (none) on the same seed. γ = factor·k^−%g, β likewise; β is chosen on "+
		"validation data from %s; γ from %s. "+
		"Clamped: the share of pulled elements whose pull would have overshot its reference.", len(chosen[0].End.Seeds),
		c.Exponent, list(c.Beta), list(c.Gamma))
	tables := []table.Table{c.table("chosen", "Every form of learning, with the best β", note, chosen)}
	if c.Figure == 3 {
		tables = append(tables, c.forgettingTable(chosen))
	}
	return append(tables, c.table("grid", "The whole grid", "As above, every β.", rows))
}

func (c Config) table(name, title, note string, rows []Row) table.Table {
	t := table.Table{
		Name: name, Title: title, Note: note,
		Header: []string{"policy", "R-step", "Fisher", "γ", "β", "over the run", "at the end", "over the run − none",
			"at the end − none", "over the run − none, first γ", "at the end − none, first γ", "clamped %"},
	}
	if c.Figure == 4 {
		t.Header = []string{"policy", "R-step", "Fisher", "γ", "β", "interference", "interference − none",
			"interference − none, first γ", "clamped %"}
	}
	for _, r := range rows {
		cells := r.cells()
		if c.Figure == 4 {
			cells = append(cells, r.End.text(true), r.EndGain.gain(), r.EndGainPaper.gain())
		} else {
			cells = append(cells, r.OverRun.text(false), r.End.text(false), r.OverRunGain.gain(), r.EndGain.gain(),
				r.OverRunGainPaper.gain(), r.EndGainPaper.gain())
		}
		t.Add(append(cells, table.Percent(r.ClampedShare))...)
	}
	return t
}

// cells returns the cells that name the setting.
func (s variant) cells() []string {
	cells := []string{s.Policy, cmp.Or(s.RStep, table.None), cmp.Or(s.Fisher, table.None), number(s.Gamma), table.None}
	if s.Policy != engine.None {
		cells[4] = number(s.Beta)
	}
	return cells
}

func (c Config) forgettingTable(rows []Row) table.Table {
	t := table.Table{
		Name: "forgetting", Title: "What is forgotten",
		Note: "Log-likelihood of a class at the end of its own examples minus that at the end of all: positive " +
			"means forgotten. The last column is the loss of none minus the loss of this setting, averaged over " +
			"all classes except the last: positive means that less is forgotten.",
		Header: []string{"policy", "R-step", "Fisher", "γ", "β"},
	}
	for _, name := range c.names() {
		t.Header = append(t.Header, "lost of "+name)
	}
	t.Header = append(t.Header, "less than none")
	for _, r := range rows {
		cells := r.cells()
		for _, f := range r.Forgotten {
			cells = append(cells, f.text(true))
		}
		t.Add(append(cells, r.ForgottenGain.gain())...)
	}
	return t
}
