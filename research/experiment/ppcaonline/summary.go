package ppcaonline

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/seed-90d10d51/pipeline/classifier/ppcaonline/engine"
	"github.com/seed-90d10d51/pipeline/research/table"
)

// A Spread is a value on every seed, in nats per example.
type Spread struct {
	Seeds []float64 `json:"seeds"`
	Mean  float64   `json:"mean"`
	// SD is the standard deviation over seeds, divisor n−1; 0 for one seed.
	SD float64 `json:"sd"`
	// Above counts the seeds on which the value is positive.
	Above int `json:"above_zero"`
}

func spread(values []float64) Spread {
	mean, sd := table.MeanSD(values)
	if len(values) < 2 {
		sd = 0
	}
	return Spread{Seeds: values, Mean: mean, SD: sd, Above: floats.Count(func(v float64) bool { return v > 0 }, values)}
}

// sign returns 1 or −1 if the mean differs from zero by a two-sided t test at 5
// %, otherwise 0.
func (s Spread) sign() int {
	n := float64(len(s.Seeds))
	if n < 2 || !(math.Abs(s.Mean) > distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(0.975)*stat.StdErr(s.SD, n)) {
		return 0
	}
	if s.Mean > 0 {
		return 1
	}
	return -1
}

// A Row is one setting in the results, with the chosen β or one of the grid.
type Row struct {
	variant
	// Validation is the mean over seeds of the criterion for choosing β.
	Validation float64 `json:"validation"`
	// OverRun is the mean over the curve, End its last point; in Figure 4 both
	// are the mean interference over pairs of different classes.
	OverRun Spread `json:"over_run"`
	End     Spread `json:"end"`
	// The same minus plain online EM on the same seed: with the same γ, and
	// with the paper's, which is the first.
	OverRunGain      Spread `json:"over_run_less_none"`
	EndGain          Spread `json:"end_less_none"`
	OverRunGainPaper Spread `json:"over_run_less_none_first_gamma"`
	EndGainPaper     Spread `json:"end_less_none_first_gamma"`
	// ClampedShare is the clamped share of the pulled elements.
	ClampedShare float64 `json:"clamped_share"`
	// Forgotten holds the loss of every class from the end of its own examples
	// to the end of all; Figure 3 only.
	Forgotten []Spread `json:"forgotten,omitempty"`
	// ForgottenGain is the loss of none minus the loss of this setting,
	// averaged over all classes except the last.
	ForgottenGain *Spread `json:"forgotten_none_less_this,omitempty"`

	index int // in the grid
}

// rows summarises every setting of the grid.
func (c Config) rows(seeds [][]trial) []Row {
	grid := c.grid()
	rows := make([]Row, len(grid))
	for i, s := range grid {
		r := Row{variant: s, index: i}
		pulled, clamped := 0, 0
		for _, trials := range seeds {
			r.Validation += trials[i].Validation / float64(len(seeds))
			pulled, clamped = pulled+trials[i].Pulled, clamped+trials[i].Clamped
		}
		r.ClampedShare = float64(clamped) / float64(max(1, pulled))
		none, paper := c.plain(s.Gamma), c.plain(c.Gamma[0])
		r.OverRun, r.End = c.each(seeds, i, -1, c.overRun), c.each(seeds, i, -1, c.end)
		r.OverRunGain, r.EndGain = c.each(seeds, i, none, c.overRun), c.each(seeds, i, none, c.end)
		r.OverRunGainPaper, r.EndGainPaper = c.each(seeds, i, paper, c.overRun), c.each(seeds, i, paper, c.end)
		if c.Figure == 3 {
			for k := range c.Classes {
				r.Forgotten = append(r.Forgotten,
					c.each(seeds, i, -1, func(t trial) float64 { return c.forgotten(t)[k] }))
			}
			gain := c.each(seeds, none, i,
				func(t trial) float64 { return stat.Mean(c.forgotten(t)[:c.Classes-1], nil) })
			r.ForgottenGain = &gain
		}
		rows[i] = r
	}
	return rows
}

// plain returns the grid position of plain online EM with that γ.
func (c Config) plain(gamma float64) int {
	return slices.Index(c.grid(), variant{Policy: engine.None, Gamma: gamma})
}

// each returns a value of setting i on every seed, minus that of setting minus
// if it is one.
func (c Config) each(seeds [][]trial, i, minus int, value func(trial) float64) Spread {
	values := make([]float64, len(seeds))
	for k, trials := range seeds {
		values[k] = value(trials[i])
		if minus >= 0 {
			values[k] -= value(trials[minus])
		}
	}
	return spread(values)
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
		ownEnd := float64((k + 1) * (c.Train / c.Classes))
		lost[k] = row[slices.Index(steps, ownEnd)] - row[len(row)-1]
	}
	return lost
}

// chosen returns the rows with the best β of every form, in the order of forms.
func (c Config) chosen(rows []Row) []Row {
	var best []Row
	for _, f := range c.forms() {
		at := -1
		for i, r := range rows {
			if r.form() == f && (at < 0 || r.Validation > rows[at].Validation) {
				at = i
			}
		}
		best = append(best, rows[at])
	}
	return best
}

// findings states which claims of the paper hold here, from the numbers.
func (c Config) findings(chosen, drawn []Row) []string {
	claim := []string{
		"The paper: the constraint (step) raises the log-likelihood from the first steps on, by about the same " +
			"amount throughout.",
		"The paper: step rises throughout and ends above plain online EM; class rises slowly and ends about where " +
			"plain online EM does.",
		"The paper: plain online EM forgets classes, step forgets less, class nothing visible.",
		"The paper: plain online EM shows no positive interference, step and class show some.",
	}[c.Figure-1]
	out := []string{claim}
	for _, r := range drawn[1:] {
		out = append(out, c.finding(r))
	}
	out = append(out, c.count(chosen)...)
	if c.Figure == 4 {
		return out // interference is a difference already
	}
	none := drawn[0]
	return append(out,
		fmt.Sprintf("Over seeds the value itself varies by %.2f nats (standard deviation of none at the end), which "+
			"hides differences of this size: only pairs on the same seed show them.", none.End.SD))
}

// finding compares one setting with plain online EM of the same γ.
func (c Config) finding(r Row) string {
	switch c.Figure {
	case 3:
		return fmt.Sprintf("%s: loses %s nats less than none with the same γ (%s).", r.variant, r.ForgottenGain.gain(),
			r.ForgottenGain.conclusion())
	case 4:
		return fmt.Sprintf("%s: interference %s, against none with the same γ %s (%s).", r.variant, r.End.gain(),
			r.EndGain.gain(), r.EndGain.conclusion())
	}
	return fmt.Sprintf("%s: over the run %s nats against none with the same γ (%s), at the end %s (%s); at the end "+
		"against none with γ %s %s (%s).",
		r.variant, r.OverRunGain.gain(), r.OverRunGain.conclusion(), r.EndGain.gain(), r.EndGain.conclusion(),
		number(c.Gamma[0]), r.EndGainPaper.gain(), r.EndGainPaper.conclusion())
}

// count returns, for every policy, a sentence on how many of its forms differ
// from none with the same γ.
func (c Config) count(chosen []Row) []string {
	var out []string
	for _, p := range c.policies() {
		better, worse, all, weakest := 0, 0, 0, 0
		for _, r := range chosen {
			if r.Policy != p {
				continue
			}
			all++
			if r.Beta == slices.Min(c.Beta) {
				weakest++
			}
			switch c.measure(r).sign() {
			case 1:
				better++
			case -1:
				worse++
			}
		}
		out = append(out,
			fmt.Sprintf("%s, all %d forms (R-step, Fisher, γ) %s: %d better than none with the same γ, %d worse, %d "+
				"undecided (two-sided t test of the paired differences, 5 %%); validation chose the weakest β for %d.",
				p, all, c.measured(), better, worse, all-better-worse, weakest))
	}
	return out
}

// measure names the figure's measure.
func (c Config) measure(r Row) Spread {
	switch {
	case r.Policy == engine.None:
		return Spread{}
	case c.Figure == 3:
		return *r.ForgottenGain
	case c.Figure == 4:
		return r.EndGain
	}
	return r.OverRunGain
}

func (c Config) measured() string {
	return []string{"over the run", "over the run", "by what is forgotten", "by interference"}[c.Figure-1]
}
