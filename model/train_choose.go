package model

import (
	"context"
	"fmt"
	"math"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
	"github.com/seed-90d10d51/pipeline/method"
)

// sureGain is the number of standard errors by which a method has to be more
// accurate than a simpler one to replace it.
const sureGain = 2

// A Choice is why Train chose the method of a model.
type Choice struct {
	// Why is a sentence.
	Why string `json:"why"`
	// Trials are those of the candidates, in their order; none if nothing was compared.
	Trials []Trial `json:"trials,omitempty"`
}

// A Trial is how one method did on held-out examples of the base session.
type Trial struct {
	Method string `json:"method"`
	// Accuracy is the mean over folds, or over pseudo-sessions and there of base and
	// later classes, 0 to 1. Gain is the difference to Against, the best of the
	// methods before, and Error its standard error, paired.
	Accuracy float64 `json:"accuracy"`
	Against  string  `json:"against,omitempty"`
	Gain     float64 `json:"gain"`
	Error    float64 `json:"standard_error"`
	// NLL is the negative log-likelihood in nats, at the temperature that was fitted.
	NLL float64 `json:"nll"`
}

// A contender is a candidate that has learned the base session.
type contender struct {
	model   *Model
	outcome Outcome
}

func (c contender) held() calibration.Calibration { return c.model.Predictor.Calibration }

// parts returns the accuracies of two contenders on the same examples: where groups of
// like examples matter to either of them, with these held out whole.
func parts(own, rival contender) (a, b []float64) {
	x, y := own.held(), rival.held()
	if (x.Elsewhere > 0 || y.Elsewhere > 0) && len(x.Apart) == len(y.Apart) {
		return x.Apart, y.Apart
	}
	return x.Parts, y.Parts
}

// trainChosen trains the method that does best on held-out examples of the base
// session. A candidate takes the place of the one before it only if it is more
// accurate by two standard errors of the difference, measured on the same examples
// (those of the calibration). A projection is trained for the chosen method alone.
// Cost: that of training all candidates, of which two are in memory at a time.
func trainChosen(ctx context.Context, s Settings, b Batch) (*Model, Outcome, error) {
	if why := nothingToCompare(b.Labels); why != "" {
		s.Method = method.Default
		m, o, err := Train(ctx, s, b)
		if err == nil {
			m.Choice = &Choice{Why: why}
		}
		return m, o, err
	}
	trial := s
	trial.DKL, trial.Temperature, trial.WithoutCalibration = nil, temperature.Config{}, false
	var best contender
	var trials []Trial
	step, finish := s.comparing(len(method.Candidates()))
	defer finish()
	for _, trial.Method = range method.Candidates() {
		m, o, err := Train(ctx, trial, b)
		if err != nil {
			return nil, Outcome{}, fmt.Errorf("choose a method: %s: %w", trial.Method, err)
		}
		next := contender{m, o}
		t, sure := next.against(best)
		trials = append(trials, t)
		if sure {
			best = next
		}
		step()
	}
	if s.DKL != nil || s.Temperature != trial.Temperature || s.WithoutCalibration {
		s.Method = best.model.Method
		var err error
		if best.model, best.outcome, err = Train(ctx, s, b); err != nil {
			return nil, Outcome{}, err
		}
	}
	best.model.Choice = &Choice{Why: why(best.model.Method, trials), Trials: trials}
	return best.model, best.outcome, nil
}

func (s Settings) comparing(methods int) (step, finish func()) {
	if s.Comparing == nil {
		return func() {}, func() {}
	}
	return s.Comparing(methods)
}

// leastCompared is the number of examples of a class from which on methods are
// compared. With fewer the trials find nothing better than the default, and cost
// several times its training (docs/results/fewshot.md).
const leastCompared = 12

// nothingToCompare says why methods cannot be compared, "" if they can.
func nothingToCompare(labels []string) string {
	groups, enough := classifier.GroupByClass(labels), 0
	for _, g := range groups {
		if len(g.Rows) >= leastCompared {
			enough++
		}
	}
	switch {
	case len(groups) < 2:
		return method.Default + ", the rule for a single class"
	case 2*enough < len(groups):
		return fmt.Sprintf("%s, the rule while most classes have fewer than %d images", method.Default, leastCompared)
	}
	return ""
}

// against compares c with the best contender before it, and reports whether c takes
// its place.
func (c contender) against(best contender) (Trial, bool) {
	t := Trial{Method: c.model.Method}
	if v := c.model.Predictor.Temperature; v != nil {
		t.NLL = v.After
	}
	if best.model == nil {
		own, _ := parts(c, c)
		t.Accuracy = mean(own)
		return t, true
	}
	own, before := parts(c, best)
	n := float64(len(own))
	t.Against, t.Accuracy = best.model.Method, mean(own)
	if len(own) != len(before) || len(own) < 2 {
		return t, false // one of them could not be calibrated
	}
	for i, a := range own {
		t.Gain += (a - before[i]) / n
	}
	for i, a := range own {
		t.Error += math.Pow(a-before[i]-t.Gain, 2)
	}
	t.Error = math.Sqrt(t.Error / (n * (n - 1)))
	return t, t.Gain > sureGain*t.Error
}

func mean(of []float64) (sum float64) {
	for _, v := range of {
		sum += v / float64(len(of))
	}
	return sum
}

// why says why a method was chosen.
func why(chosen string, trials []Trial) string {
	own, rival := trials[0], trials[1] // the most accurate of the others
	for _, t := range trials[1:] {
		switch {
		case t.Method == chosen:
			own = t
		case t.Accuracy > rival.Accuracy:
			rival = t
		}
	}
	if own.Against == "" {
		return fmt.Sprintf("%s: it names %.1f %% of held-out images correctly, and no other method is better by "+
			"two standard errors (%s: %.1f %%)", chosen, 100*own.Accuracy, rival.Method, 100*rival.Accuracy)
	}
	return fmt.Sprintf("%s: it names %.1f %% of held-out images correctly, %s %.1f points fewer "+
		"(standard error %.1f)", chosen, 100*own.Accuracy, own.Against, 100*own.Gain, 100*own.Error)
}

// withoutTrials returns the choice for a model of other examples: a rule, or nothing.
func (c *Choice) withoutTrials() *Choice {
	if c == nil || c.Trials != nil {
		return nil
	}
	return c
}
