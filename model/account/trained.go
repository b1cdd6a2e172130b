package account

import (
	"fmt"
	"math"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
	"github.com/seed-90d10d51/pipeline/model"
)

// A Learning is what is expected of photos that nobody has seen yet, from those that a model learned.
type Learning struct {
	// Same is the share right of photos like these, Other that of another occasion.
	Same  *float64 `json:"same_occasion"`
	Other *float64 `json:"other_occasion"`
	// Corrected is Same once the labels that look wrong are corrected, nil if none does.
	Corrected *float64 `json:"corrected"`
	// Images were left out, of a model of so many Classes; Chance is right by guessing.
	Images  int     `json:"images"`
	Classes int     `json:"classes"`
	Chance  float64 `json:"chance"`
}

// Learned returns the tally of the photos that a model has learned from folders and lists.
func Learned(m *model.Model) *Tally {
	t := NewTally(m.Predictor.Calibration, m.Classes())
	for _, class := range m.ClassSizes() {
		t.account.Decided.List += class.Samples
		t.account.Classes[t.at[class.Name]].Decided = class.Samples
	}
	return t
}

// Of returns the account of photos that a model has learned.
func (t *Tally) Of(m *model.Model) Account {
	a := t.sum()
	a.Expected, a.Wrong = trained(m), learnedWrong(m)
	a.Next = a.nextOf(m)
	return a
}

// trained returns what is expected of photos like those that a model learned.
func trained(m *model.Model) *Expected {
	c, n := m.Predictor.Calibration, len(m.Classes())
	if n == 0 {
		return nil
	}
	e := &Expected{Learning: &Learning{Classes: n, Chance: 1 / float64(n)}}
	switch c.Source {
	case calibration.None:
		e.Reason = c.Reason
		return e
	case calibration.Simulated:
		e.Reason = "most classes have a single image"
		return e
	}
	e.Images, e.RestsOn = c.Samples, restsOn(c)
	e.set(interval(c.Accuracy, c.Samples))
	e.Same = e.Accuracy
	if c.Elsewhere > 0 {
		e.Other = new(min(c.Elsewhere, most))
	}
	t := m.Predictor.Temperature
	if t != nil && t.Wrong > 0 {
		// A wrong label counts as an error whatever the model says.
		e.Corrected = new(min(c.Accuracy/(1-t.Wrong), most))
	}
	return e
}

func restsOn(c calibration.Calibration) string {
	if c.Source == calibration.PseudoSessions {
		return fmt.Sprintf("base classes in trials on %d held-out images", c.Samples)
	}
	return fmt.Sprintf("%d left-out images", c.Samples)
}

// interval returns a share of n examples and where it lies for other photos: by chance, and because no folder is like
// another.
func interval(share float64, n int) (a, low, high float64) {
	share = math.Max(0, math.Min(share, 1)) // a MODEL may say anything
	low, high = calibration.Interval(int(math.Round(share*float64(n))), max(1, n))
	const other = 1.96 * calibration.FolderError
	return share, share - math.Hypot(share-low, other), share + math.Hypot(high-share, other)
}

// learnedWrong returns how many of the labels that a model learned look wrong, nil if none does. The interval is that
// of chance; rank asks models that have not learned each.
func learnedWrong(m *model.Model) *Wrong {
	t, n := m.Predictor.Temperature, m.SampleCount()
	if t == nil || t.Wrong == 0 {
		return nil
	}
	low, high := calibration.Interval(int(math.Round(t.Wrong*float64(n))), n)
	return &Wrong{t.Wrong * float64(n), low * float64(n), high * float64(n), n}
}

// nextOf returns what to do with a model.
func (a Account) nextOf(m *model.Model) Step {
	for _, class := range m.ClassSizes() {
		if class.Samples == 1 {
			return Step{"more", class.Name, fmt.Sprintf("Add photos of %s: nothing can be checked with one.",
				class.Name)}
		}
	}
	weak := m.Predictor.Calibration.Weak
	switch {
	case a.Wrong != nil:
		return Step{Do: "suspicious", Text: fmt.Sprintf("About %.0f labels look wrong: look at the first ones.",
			a.Wrong.Expected)}
	case len(weak) > 0:
		return Step{"more", weak[0], fmt.Sprintf("Add photos of %s: half or more of those left out were named wrongly.",
			weak[0])}
	}
	return Step{Do: "check", Text: "Label photos, and check twenty of them drawn at random."}
}
