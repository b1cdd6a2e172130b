package advice

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
	"github.com/seed-90d10d51/pipeline/model"
)

// Two classes may be one if of each at least this share of the left-out images,
// and at least two, were named as the other. Halves of one class drawn at random
// would confuse half of them.
const (
	mayBeOneShare = 1.0 / 3
	mayBeOneCount = 2
)

// shown is the number of classes with a single photo that the sentences name.
const shown = 10

// An Advice says what would improve a model, from its images that were left out of
// training. Its lists are as long as what the model keeps: at most ten each.
type Advice struct {
	// LeftOut is the number of those images, Accuracy the share of them named
	// correctly; Reason says why there are none.
	LeftOut  int     `json:"left_out"`
	Accuracy float64 `json:"accuracy"`
	Reason   string  `json:"reason,omitempty"`
	// NeedPhotos are the classes of which half or more of the left-out images were
	// named wrongly, worst first; Single the classes with one image, of which
	// none can be left out.
	NeedPhotos []model.ClassInfo `json:"need_photos"`
	Single     []string          `json:"single_photo"`
	// MayBeOne are pairs of classes that are each often named as the other, Confused
	// the other classes that are often named as one.
	MayBeOne [][2]calibration.Confusion `json:"may_be_one"`
	Confused []calibration.Confusion    `json:"confused"`
}

// On returns the advice on a model.
func On(m *model.Model) Advice { return of(m.Predictor.Calibration, m.ClassSizes()) }

// of returns the advice on a model with classes of the given sizes.
func of(c calibration.Calibration, sizes []model.ClassInfo) Advice {
	out := Advice{
		LeftOut: c.Samples, Accuracy: c.Accuracy, Reason: c.Reason,
		NeedPhotos: []model.ClassInfo{}, Single: []string{},
		MayBeOne: [][2]calibration.Confusion{}, Confused: []calibration.Confusion{},
	}
	for _, name := range c.Weak {
		if i := slices.IndexFunc(sizes, func(s model.ClassInfo) bool { return s.Name == name }); i >= 0 {
			out.NeedPhotos = append(out.NeedPhotos, sizes[i])
		}
	}
	for _, s := range sizes {
		if s.Samples == 1 {
			out.Single = append(out.Single, s.Name)
		}
	}
	often := func(c calibration.Confusion) bool {
		return c.Count >= mayBeOneCount && float64(c.Count) >= mayBeOneShare*float64(c.Of)
	}
	paired := map[int]bool{}
	for i, p := range c.Confusions {
		back := slices.IndexFunc(c.Confusions, func(q calibration.Confusion) bool {
			return q.Class == p.As && q.As == p.Class
		})
		if back > i && often(p) && often(c.Confusions[back]) {
			out.MayBeOne = append(out.MayBeOne, [2]calibration.Confusion{p, c.Confusions[back]})
			paired[i], paired[back] = true, true
		}
	}
	for i, p := range c.Confusions {
		if !paired[i] {
			out.Confused = append(out.Confused, p)
		}
	}
	return out
}

// Sentences returns the advice in words.
func (a Advice) Sentences() (lines []string) {
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, p := range a.MayBeOne {
		add("may be one   %s and %s: of their left-out photos %d of %d and %d of %d were named as the other; "+
			"if they show the same, give them one folder and train again",
			p[0].Class, p[0].As, p[0].Count, p[0].Of, p[1].Count, p[1].Of)
	}
	for _, c := range a.NeedPhotos {
		add("more photos  %s (%d so far): half or more of its left-out photos were named wrongly", c.Name, c.Samples)
	}
	if n := len(a.Single); n > 0 {
		names := strings.Join(a.Single[:min(shown, n)], ", ")
		if n > shown {
			names += fmt.Sprintf(" and %d more", n-shown)
		}
		add("more photos  %s: nothing can be checked with a single photo", names)
	}
	for _, p := range a.Confused {
		add("look at      %s: %d of %d left-out photos were named %s", p.Class, p.Count, p.Of, p.As)
	}
	if len(lines) == 0 && a.LeftOut > 0 {
		add("no class stands out")
	}
	return lines
}
