package advice

import (
	"fmt"
	"math"
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

// Expected says how good a model is likely to be, what that rests on, and what would
// help most.
func Expected(m *model.Model) []string {
	c := m.Predictor.Calibration
	switch c.Source {
	case calibration.Simulated:
		return []string{"most classes have a single image: how good the model is cannot be estimated, and its " +
			"probabilities follow a rule of thumb; a second image of each class helps most"}
	case calibration.None:
		if len(m.Classes()) == 0 {
			return nil
		}
		return []string{"not calibrated: " + c.Reason}
	}
	on := fmt.Sprintf("%d left-out images", c.Samples)
	if c.Source == calibration.PseudoSessions {
		on = fmt.Sprintf("base classes in trials on %d held-out images", c.Samples)
	}
	if c.Accuracy == 1 {
		on += ", none named wrongly"
	}
	if Rough(c) || m.SampleCount() < 3*len(m.Classes()) { // leaving one of two out takes half of what is known
		on += ", a rough estimate"
	}
	lines := []string{fmt.Sprintf("expect %s of photos like these to be named correctly (from %s); "+
		"guessing names %.2g %%", Share(c), on, 100/float64(len(m.Classes())))}
	if c.Elsewhere > 0 {
		lines = append(lines,
			fmt.Sprintf("many of the photos are alike, such as those of a burst: of photos of another "+
				"occasion expect about %.0f %%, or less; probabilities are for these", 100*c.Elsewhere))
	}
	if c.Once {
		lines = append(lines, "half of the classes or more were photographed on one occasion each: how well photos "+
			"of another occasion are named cannot be known from these")
	}
	if n := single(m); n > 0 {
		lines = append(lines, fmt.Sprintf("classes with a single image: %d of %d; how well they are named is unknown",
			n, len(m.Classes())))
	}
	if ece := CalibrationError(m); ece > 0 {
		lines = append(lines, fmt.Sprintf("probabilities are off by %.0f points on average (ECE %.3f)", 100*ece, ece))
	}
	var pairs []string
	for _, p := range c.Confusions[:min(3, len(c.Confusions))] {
		pairs = append(pairs, fmt.Sprintf("%s named %s (%d of %d)", p.Class, p.As, p.Count, p.Of))
	}
	if len(pairs) > 0 {
		lines = append(lines, "confused most: "+strings.Join(pairs, ", "))
	}
	if len(c.Weak) > 0 {
		lines = append(lines, "more photos would help most: "+strings.Join(c.Weak[:min(5, len(c.Weak))], ", "))
	}
	return lines
}

// Share says how many of photos like those that were learned will be named correctly: "about
// 88 %", or "83 % or more" where about as many as all would be promised.
func Share(c calibration.Calibration) string {
	if low, instead := c.AtLeast(); instead {
		return fmt.Sprintf("%.0f %% or more", math.Floor(100*low))
	}
	return fmt.Sprintf("about %.0f %%", 100*c.Accuracy)
}

// Rejected says of which photos a share is turned away, if photos of another
// occasion differ; "" if not, or if nothing is rejected.
func Rejected(m *model.Model, share float64) string {
	c := m.Predictor.Calibration
	threshold, err := m.Threshold(share)
	if err != nil || share == 0 {
		return ""
	}
	if other, ok := c.Novelty.Elsewhere(threshold); ok {
		return fmt.Sprintf("reject=%g turns away about %.2g %% of the photos that are like those learned, and of "+
			"those of another occasion %.2g %% or more", share, 100*share, 100*max(share, other))
	}
	if c.Once {
		return fmt.Sprintf("reject=%g is for photos like those learned; how many of another occasion it turns away "+
			"cannot be known", share)
	}
	return ""
}

// single returns the number of classes that have one image, so that none was held out.
func single(m *model.Model) (n int) {
	for _, c := range m.ClassSizes() {
		if c.Samples == 1 {
			n++
		}
	}
	return n
}

// Rough reports whether an estimate rests on few images.
func Rough(c calibration.Calibration) bool { return c.Samples < fewHeldOut }

// CalibrationError returns by how much the probabilities of a model are off on average,
// 0 where that is not known well enough to be said.
func CalibrationError(m *model.Model) float64 {
	t := m.Predictor.Temperature
	if t == nil || m.Predictor.Calibration.Samples < binned {
		return 0
	}
	return t.ECE
}
