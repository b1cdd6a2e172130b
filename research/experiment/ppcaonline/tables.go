package ppcaonline

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/seed-90d10d51/pipeline/classifier/ppcaonline/engine"
	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/grid"
	"github.com/seed-90d10d51/pipeline/research/table"
)

func (c Config) outcome(seeds [][]trial) experiment.Outcome {
	all := c.cells(seeds)
	chosen := c.chosen(all)
	drawn := c.drawn(chosen)
	curves := c.curves(seeds, chosen, drawn)
	return experiment.Outcome{
		Title:   fmt.Sprintf("NAT-oEM, Figure %d: %s", c.Figure, c.subject()),
		Results: experiment.Results{Kind: "ppca-online", Cells: append(slices.Clip(all), curves...)},
		Tables:  c.tables(all, chosen, c.curvesTable(curves, drawn)), Figures: c.figures(curves, chosen, drawn),
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

// cells summarises every setting of the grid, in nats per example: over_run is the mean
// over the curve, end its last point, in Figure 4 both are the mean interference over
// pairs of different classes; less_none is the same minus plain online EM on the same
// seed, with the same γ or with the paper's, which is the first.
func (c Config) cells(seeds [][]trial) grid.Grid {
	var all grid.Grid
	for _, trials := range seeds {
		for _, t := range trials {
			all.Add(t.Setting.place(), c.values(t))
		}
	}
	for _, cell := range all {
		v := cell.Values
		none, first := c.plain(all, cell.At["γ"]), c.plain(all, number(c.Gamma[0]))
		for _, m := range []string{"over_run", "end"} {
			v[m+"_less_none"] = table.Differences(v[m], none[m])
			v[m+"_less_none_first_gamma"] = table.Differences(v[m], first[m])
		}
		if c.Figure == 3 {
			v["lost_none_less_this"] = table.Differences(none["lost"], v["lost"])
		}
		v["clamped_share"] = []float64{floats.Sum(v["clamped"]) / max(1, floats.Sum(v["pulled"]))}
	}
	return all
}

func (c Config) values(t trial) grid.Values {
	v := grid.Values{
		"validation": t.Validation, "over_run": c.overRun(t), "end": c.end(t),
		"pulled": float64(t.Pulled), "clamped": float64(t.Clamped),
	}
	if c.Figure == 3 {
		lost := c.forgotten(t)
		for k, name := range c.names() {
			v["lost of "+name] = lost[k]
		}
		v["lost"] = stat.Mean(lost[:c.Classes-1], nil)
	}
	return v
}

// plain returns the measures of plain online EM with that γ.
func (c Config) plain(all grid.Grid, gamma string) map[string][]float64 {
	return all.Where(grid.At("policy", engine.None, "γ", gamma))[0].Values
}

// overRun returns the mean over the curve of the mean over classes, or the mean
// over pairs of different classes.
func (c Config) overRun(t trial) float64 {
	if c.Figure == 4 {
		return c.end(t)
	}
	return stat.Mean(slices.Concat(t.Test...), nil)
}

// end returns the mean over classes at the last point of the curve; for pairs
// it equals overRun.
func (c Config) end(t trial) float64 {
	var values []float64
	for i, row := range t.Test {
		if c.Figure != 4 {
			values = append(values, row[len(row)-1])
			continue
		}
		values = slices.Concat(values, row[:i], row[i+1:])
	}
	return stat.Mean(values, nil)
}

// forgotten returns the loss of every class since the end of its own examples.
func (c Config) forgotten(t trial) []float64 {
	lost, steps := make([]float64, c.Classes), c.steps()
	for k, row := range t.Test {
		ownEnd := (k + 1) * (c.Train / c.Classes)
		lost[k] = row[slices.Index(steps, ownEnd)] - row[len(row)-1]
	}
	return lost
}

// chosen returns every form with its best β on validation data.
func (c Config) chosen(all grid.Grid) []variant {
	validation := func(s variant) float64 { return stat.Mean(all.Values(s.place(), "validation"), nil) }
	var best []variant
	for _, s := range c.grid() {
		i := slices.IndexFunc(best, func(b variant) bool { return b.form() == s.form() })
		if i < 0 {
			best = append(best, s)
		} else if validation(s) > validation(best[i]) {
			best[i] = s
		}
	}
	return best
}

// drawn returns the settings that the figure shows: plain online EM and the
// step policy with the first γ, and the class policy with the last γ and with
// the first. The R-step is the first of the configuration.
func (c Config) drawn(chosen []variant) []variant {
	rstep, fisher := c.RStep[0], c.Fisher[0]
	if rstep == engine.Identity {
		fisher = ""
	}
	first, last := c.Gamma[0], c.Gamma[len(c.Gamma)-1]
	var drawn []variant
	for _, form := range []variant{
		{Policy: engine.None, Gamma: first}, {engine.Step, fisher, rstep, first, 0},
		{engine.Class, fisher, rstep, last, 0}, {engine.Class, fisher, rstep, first, 0},
	} {
		i := slices.IndexFunc(chosen, func(s variant) bool { return s.form() == form })
		if i >= 0 && !slices.Contains(drawn, chosen[i]) {
			drawn = append(drawn, chosen[i])
		}
	}
	return drawn
}

func (c Config) tables(all grid.Grid, chosen []variant, curves table.Table) []table.Table {
	list := func(values []float64) string {
		return strings.Trim(strings.ReplaceAll(fmt.Sprint(values), " ", ", "), "[]")
	}
	note := fmt.Sprintf("Nats per example on test data, mean ± standard deviation over %d seeds; in brackets the "+
		"number of seeds on which a difference is positive. "+
		"Differences are to plain online EM (none) on the same seed. γ = factor·k^−%g, β likewise; β is chosen on "+
		"validation data from %s; γ from %s. "+
		"Clamped: the share of pulled elements whose pull would have overshot its reference.", c.Seeds,
		c.Exponent, list(c.Beta), list(c.Gamma))
	var best grid.Grid
	for _, s := range chosen {
		best = append(best, all.Where(s.place())...)
	}
	tables := []table.Table{best.Table(table.Table{
		Name: "chosen", Title: "Every form of learning, with the best β", Note: note,
	}, placeAxes(), c.columns()...)}
	if c.Figure == 3 {
		tables = append(tables, c.forgettingTable(best))
	}
	whole := table.Table{Name: "grid", Title: "The whole grid", Note: "As above, every β."}
	return append(tables, curves, all.Table(whole, placeAxes(), c.columns()...))
}

// curvesTable has what the figure shows: by step, in Figure 3 for each class, in Figure 4 by pairs of classes.
func (c Config) curvesTable(curves grid.Grid, drawn []variant) table.Table {
	rows, across := "step", "class"
	if c.Figure == 4 {
		rows, across = "class", "second"
	}
	var columns []grid.Column
	column := func(title string, at grid.Place) {
		columns = append(columns, grid.Column{Title: title, At: at, Of: "test", Show: level})
	}
	for _, s := range drawn {
		if c.Figure <= 2 {
			column(s.String(), s.place())
			continue
		}
		for _, name := range c.names() {
			column(s.String()+": "+name, s.place().And(across, name))
		}
	}
	note := "Nats per example on test data, mean ± standard deviation over seeds."
	return curves.Table(table.Table{Name: "curves", Title: "The figure", Note: note}, []string{rows}, columns...)
}

func (c Config) columns() []grid.Column {
	columns := []grid.Column{
		{Title: "over the run", Of: "over_run", Show: level}, {Title: "at the end", Of: "end", Show: level},
		{Title: "over the run − none", Of: "over_run_less_none", Show: gain},
		{Title: "at the end − none", Of: "end_less_none", Show: gain},
		{Title: "over the run − none, first γ", Of: "over_run_less_none_first_gamma", Show: gain},
		{Title: "at the end − none, first γ", Of: "end_less_none_first_gamma", Show: gain},
	}
	if c.Figure == 4 {
		columns = []grid.Column{
			{Title: "interference", Of: "end", Show: difference},
			{Title: "interference − none", Of: "end_less_none", Show: gain},
			{Title: "interference − none, first γ", Of: "end_less_none_first_gamma", Show: gain},
		}
	}
	return append(columns, grid.Column{Title: "clamped %", Of: "clamped_share", Show: grid.Percent})
}

func (c Config) forgettingTable(chosen grid.Grid) table.Table {
	var columns []grid.Column
	for _, name := range c.names() {
		columns = append(columns, grid.Column{Title: "lost of " + name, Of: "lost of " + name, Show: difference})
	}
	return chosen.Table(table.Table{
		Name: "forgetting", Title: "What is forgotten",
		Note: "Log-likelihood of a class at the end of its own examples minus that at the end of all: positive " +
			"means forgotten. The last column is the loss of none minus the loss of this setting, averaged over " +
			"all classes except the last: positive means that less is forgotten.",
	}, placeAxes(), append(columns, grid.Column{Title: "less than none", Of: "lost_none_less_this", Show: gain})...)
}

// level shows a log-likelihood: the mean and the standard deviation over seeds, 0 for one
// seed.
func level(values []float64) string { return spread("%.3f ± %.3f", values) }

// difference shows a difference of log-likelihoods, small ones by their power of ten.
func difference(values []float64) string {
	if mean := stat.Mean(values, nil); mean != 0 && math.Abs(mean) < 1e-3 {
		return spread("%+.0e ± %.0e", values)
	}
	return spread("%+.3f ± %.3f", values)
}

func spread(format string, values []float64) string {
	mean, sd := table.MeanSD(values)
	if len(values) < 2 {
		sd = 0
	}
	return fmt.Sprintf(format, mean, sd)
}

// gain shows a difference with the number of seeds on which it is positive.
func gain(values []float64) string {
	above := floats.Count(func(v float64) bool { return v > 0 }, values)
	return difference(values) + " (" + strconv.Itoa(above) + "/" + strconv.Itoa(len(values)) + ")"
}
