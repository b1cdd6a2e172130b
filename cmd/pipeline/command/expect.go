package command

import (
	"fmt"
	"strings"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
	"github.com/seed-90d10d51/pipeline/model"
)

// fewHeldOut is the number of held-out images below which an estimate is called
// rough: the standard error of an accuracy of 70 % is then above six points.
const fewHeldOut = 50

// binned is the number of held-out images from which a calibration error is shown:
// with ten or fewer in each of its 15 bins it is mostly noise.
const binned = 150

// sayExpected says how good the model is likely to be, what that rests on, and what
// would help most.
func (a *app) sayExpected(m *model.Model) {
	c := m.Predictor.Calibration
	switch c.Source {
	case calibration.Simulated:
		a.say("most classes have a single image: how good the model is cannot be estimated, and its probabilities follow a rule of thumb; a second image of each class helps most")
		return
	case calibration.None:
		if len(m.Classes()) > 0 {
			a.say("not calibrated: %s", c.Reason)
		}
		return
	}
	on := fmt.Sprintf("%d left-out images", c.Samples)
	if c.Source == calibration.PseudoSessions {
		on = fmt.Sprintf("base classes in trials on %d held-out images", c.Samples)
	}
	rough := ""
	if c.Samples < fewHeldOut || m.SampleCount() < 3*len(m.Classes()) { // leaving one of two out takes half of what is known
		rough = ", a rough estimate"
	}
	a.say("expect about %.0f %% of photos of these classes to be named correctly (from %s%s)", 100*c.Accuracy, on, rough)
	if t := m.Predictor.Temperature; t != nil && t.ECE > 0 && c.Samples >= binned {
		a.say("probabilities are off by %.0f points on average (ECE %.3f)", 100*t.ECE, t.ECE)
	}
	var pairs []string
	for _, p := range c.Confusions[:min(3, len(c.Confusions))] {
		pairs = append(pairs, fmt.Sprintf("%s named %s (%d of %d)", p.Class, p.As, p.Count, p.Of))
	}
	if len(pairs) > 0 {
		a.say("confused most: %s", strings.Join(pairs, ", "))
	}
	if len(c.Weak) > 0 {
		a.say("more photos would help most: %s", strings.Join(c.Weak[:min(5, len(c.Weak))], ", "))
	}
}
