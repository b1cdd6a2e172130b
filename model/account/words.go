package account

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
	"github.com/seed-90d10d51/pipeline/model"
)

const (
	// fewHeldOut is the number of held-out images below which an estimate is called
	// rough: the standard error of an accuracy of 70 % is then above six points.
	fewHeldOut = 50
	// binned is the number of held-out images from which a calibration error is shown:
	// with ten or fewer in each of its 15 bins it is mostly noise.
	binned = 150
	// shownPairs is how many classes are named that are taken for others.
	shownPairs = 3
	// FewLabels is the number below which nothing is said of how many labels are wrong.
	FewLabels = 50
)

// Lines say what an account of photos is, a fact a line: counts, what is expected, what was measured, which labels
// are wrong, what is confused.
func (a Account) Lines() []string {
	lines := []string{a.Counts()}
	if said := a.Labels(); said != "" {
		lines = append(lines, said)
	}
	if a.Measured != nil || a.Expected != nil && a.Expected.Accuracy != nil {
		lines = append(lines, a.Measured.String())
	}
	if a.Wrong != nil && a.Wrong.Of >= FewLabels {
		lines = append(lines, a.Wrong.String())
	}
	if said := a.Confusion(); said != "" {
		lines = append(lines, said)
	}
	return lines
}

// Brief says what there is to know before anybody decides: what is expected, how many labels are wrong, and what is
// taken for what, as far as that is known.
func (a Account) Brief() (lines []string) {
	if said := a.Labels(); said != "" {
		lines = append(lines, said)
	}
	if a.Wrong != nil && a.Wrong.Of >= FewLabels {
		lines = append(lines, a.Wrong.String())
	}
	if said := a.Confusion(); said != "" {
		lines = append(lines, said)
	}
	return lines
}

// A Part is how many photos are something, in words.
type Part struct {
	N    int
	What string
}

// Parts are what there is of the photos, which add up to all.
func (a Account) Parts() []Part {
	all := []Part{
		{a.Decided.Person, "decided one by one"}, {a.Decided.Bulk, "accepted in bulk"},
		{a.Decided.List, "from a folder or list"}, {a.Decided.Detector, "named by the detector"},
		{a.SetAside.Unusable, "not usable"}, {a.SetAside.Several, "of several things"}, {a.SetAside.Later, "for later"},
		{a.Failed, "unreadable"}, {a.Copies, "copies"}, {a.Waiting, "waiting"},
		{a.Model - a.Unknown, "labelled by the model alone"}, {a.Unknown, "unknown"},
	}
	return slices.Concat(all[:1], slices.DeleteFunc(all[1:], func(p Part) bool { return p.N == 0 }))
}

// Counts says how many photos there are of what.
func (a Account) Counts() string {
	var parts []string
	for _, part := range a.Parts() {
		parts = append(parts, fmt.Sprintf("%d %s", part.N, part.What))
	}
	return strings.Join(parts, ", ")
}

// Labels says how many of the labels by the model are right, "" if nothing is known.
func (a Account) Labels() string {
	e := a.Expected
	switch {
	case e == nil:
		return ""
	case e.Accuracy == nil:
		return "how many labels are right is not known, and probabilities are rough: " + e.Reason
	}
	return fmt.Sprintf("expect %.0f %% of the labels by the model to be right, between %.0f and %.0f %%",
		100**e.Accuracy, math.Floor(100**e.Low), math.Ceil(100**e.High))
}

// String says what was measured, or how to.
func (m *Measured) String() string {
	if m == nil {
		return "not measured: check twenty drawn at random"
	}
	right := int(math.Round(m.Accuracy * float64(m.N)))
	from := ""
	if m.Above > 0 {
		from = fmt.Sprintf(" from those above %.0f %%", 100*m.Above)
	}
	said := fmt.Sprintf("measured: %d of %d drawn at random%s were right", right, m.N, from)
	return said + fmt.Sprintf(" (%.0f to %.0f %%)", math.Floor(100*m.Low), math.Ceil(100*m.High))
}

// String says how many labels are wrong.
func (w Wrong) String() string {
	return fmt.Sprintf("about %.0f of %d labels are wrong, between %.0f and %.0f, as far as models can tell that "+
		"have not learned them", w.Expected, w.Of, math.Floor(w.Low), math.Ceil(w.High))
}

// Confusion names the classes that are taken for others, and how sure that is; "" for none.
func (a Account) Confusion() string {
	all := a.Confused()
	var pairs []string
	for _, c := range all[:min(shownPairs, len(all))] {
		pairs = append(pairs, fmt.Sprintf("%s for %s (%d of %d left out; %.0f to %.0f %%)", c.Class, *c.TakenFor,
			c.Times, c.Of, math.Floor(100*c.Low), math.Ceil(100*c.High)))
	}
	if len(pairs) == 0 {
		return ""
	}
	return "taken for another: " + strings.Join(pairs, ", ")
}

// Trained says how good a model is likely to be, what that rests on, and what would
// help most.
func Trained(m *model.Model) []string {
	a, c := Learned(m).Of(m), m.Predictor.Calibration
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
	lines := []string{a.likeThese(m)}
	if e := a.Expected; e.Corrected != nil {
		lines = append(lines, fmt.Sprintf("about %.0f of %d labels look wrong (rank by label-error shows them): once "+
			"they are corrected, expect %.0f %%", a.Wrong.Expected, a.Wrong.Of, 100**e.Corrected))
	}
	if c.Elsewhere > 0 {
		lines = append(lines,
			fmt.Sprintf("many of the photos are alike, such as those of a burst: of photos of another "+
				"occasion expect about %.0f %%, or less; probabilities are for these", 100**a.Expected.Other))
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
	if said := a.Confusion(); said != "" {
		lines = append(lines, said)
	}
	if len(c.Weak) > 0 {
		lines = append(lines, "more photos would help most: "+strings.Join(c.Weak[:min(5, len(c.Weak))], ", "))
	}
	return lines
}

// likeThese says what to expect of photos like those that a model learned.
func (a Account) likeThese(m *model.Model) string {
	c, e := m.Predictor.Calibration, a.Expected
	on := e.RestsOn
	if c.Accuracy == 1 {
		on += ", none named wrongly"
	}
	if Rough(c) || m.SampleCount() < 3*len(m.Classes()) { // leaving one of two out takes half of what is known
		on += ", a rough estimate"
	}
	return fmt.Sprintf("expect %s of photos like these to be named correctly, between %.0f and %.0f %% (from %s); "+
		"guessing names %.2g %%", Share(c), math.Floor(100**e.Low), math.Ceil(100**e.High), on, 100*e.Chance)
}

// Share says how many of photos like those that were learned will be named correctly: "about
// 88 %", or "83 % or more" where about as many as all would be promised.
func Share(c calibration.Calibration) string {
	if low, instead := c.AtLeast(); instead {
		return fmt.Sprintf("%.0f %% or more", math.Floor(100*low))
	}
	return fmt.Sprintf("about %.0f %%", 100*c.Accuracy)
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
