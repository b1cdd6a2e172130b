package ppcaonline

import (
	"fmt"
	"slices"

	"github.com/seed-90d10d51/pipeline/classifier/ppcaonline/engine"
)

// findings states which claims of the paper hold here, from the numbers.
func (c Config) findings(chosen, drawn []Row) []string {
	claim := []string{
		"The paper: the constraint (step) raises the log-likelihood from the first steps on, by about the same amount throughout.",
		"The paper: step rises throughout and ends above plain online EM; class rises slowly and ends about where plain online EM does.",
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
	return append(out, fmt.Sprintf("Over seeds the value itself varies by %.2f nats (standard deviation of none at the end), which hides differences of this size: only pairs on the same seed show them.", none.End.SD))
}

// finding compares one setting with plain online EM of the same γ.
func (c Config) finding(r Row) string {
	switch c.Figure {
	case 3:
		return fmt.Sprintf("%s: loses %s nats less than none with the same γ (%s).", r.setting, r.ForgottenGain.gain(), r.ForgottenGain.conclusion())
	case 4:
		return fmt.Sprintf("%s: interference %s, against none with the same γ %s (%s).", r.setting, r.End.gain(), r.EndGain.gain(), r.EndGain.conclusion())
	}
	return fmt.Sprintf("%s: over the run %s nats against none with the same γ (%s), at the end %s (%s); at the end against none with γ %s %s (%s).",
		r.setting, r.OverRunGain.gain(), r.OverRunGain.conclusion(), r.EndGain.gain(), r.EndGain.conclusion(),
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
			switch c.measure(r).Sign() {
			case 1:
				better++
			case -1:
				worse++
			}
		}
		out = append(out, fmt.Sprintf("%s, all %d forms (R-step, Fisher, γ) %s: %d better than none with the same γ, %d worse, %d undecided (two-sided t test of the paired differences, 5 %%); validation chose the weakest β for %d.",
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
