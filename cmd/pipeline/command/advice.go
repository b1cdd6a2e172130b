package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/teach"
)

// Two classes may be one if of each at least this share of the left-out images,
// and at least two, were named as the other. Halves of one class drawn at random
// would confuse half of them.
const (
	mayBeOneShare = 1.0 / 3
	mayBeOneCount = 2
)

// An advice says what would improve a model, from its images that were left out of
// training. Its lists are as long as what the model keeps: at most ten each.
type advice struct {
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

func adviceOn(m *model.Model) advice {
	c := m.Predictor.Calibration
	out := advice{
		LeftOut: c.Samples, Accuracy: c.Accuracy, Reason: c.Reason,
		NeedPhotos: []model.ClassInfo{}, Single: []string{}, MayBeOne: [][2]calibration.Confusion{}, Confused: []calibration.Confusion{},
	}
	sizes := m.ClassSizes()
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
		back := slices.IndexFunc(c.Confusions, func(q calibration.Confusion) bool { return q.Class == p.As && q.As == p.Class })
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

// sayAdvice prints the advice on a model.
func (a *app) sayAdvice(m *model.Model) {
	t := adviceOn(m)
	a.sayExpected(m)
	for _, p := range t.MayBeOne {
		a.say("may be one   %s and %s: of their left-out photos %d of %d and %d of %d were named as the other; if they show the same, give them one folder and train again",
			p[0].Class, p[0].As, p[0].Count, p[0].Of, p[1].Count, p[1].Of)
	}
	for _, c := range t.NeedPhotos {
		a.say("more photos  %s (%d so far): half or more of its left-out photos were named wrongly", c.Name, c.Samples)
	}
	if n := len(t.Single); n > 0 {
		names := strings.Join(t.Single[:min(shownInAdvice, n)], ", ")
		if n > shownInAdvice {
			names += fmt.Sprintf(" and %d more", n-shownInAdvice)
		}
		a.say("more photos  %s: nothing can be checked with a single photo", names)
	}
	for _, p := range t.Confused {
		a.say("look at      %s: %d of %d left-out photos were named %s", p.Class, p.Count, p.Of, p.As)
	}
	if len(t.MayBeOne)+len(t.NeedPhotos)+len(t.Single)+len(t.Confused) == 0 && t.LeftOut > 0 {
		a.say("no class stands out")
	}
}

// shownInAdvice is the number of classes with a single photo that the advice names.
const shownInAdvice = 10

// inspectJSON prints what a program may want to know about a model.
func (a *app) inspectJSON(m *model.Model, file string) error {
	history, err := teach.Points(file)
	if err != nil {
		return err
	}
	return a.sayJSON(map[string]any{
		"method": m.Method, "choice": m.Choice, "settings": m.HeadConfig, "dimension": m.Dim(), "backbone": m.Provenance.Backbone,
		"classes": m.ClassSizes(), "sessions": len(m.Sessions), "samples": m.SampleCount(), "advice": adviceOn(m),
		"history": append([]teach.Point{}, history...),
	})
}
