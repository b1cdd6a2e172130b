package calibration

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// An Unseen tells how probable it is that an example is of no class that was learned: where
// new and known examples are equally frequent, its log odds are Offset + Slope × novelty
// (Platt 1999). Slope is not negative: what is more novel is more probably new.
type Unseen struct {
	Slope  float64 `json:"slope"`
	Offset float64 `json:"offset"`
}

// Check returns an error unless the numbers can be those of a fit.
func (u Unseen) Check() error {
	if notFinite(u.Offset) || notFinite(u.Slope) || u.Slope < 0 {
		return fmt.Errorf("%+v do not tell new from known examples", u)
	}
	return nil
}

// P returns the probability that an example of some novelty is of no class that was
// learned, if a share of the examples is, 0 to 1.
func (u Unseen) P(novelty, share float64) float64 {
	return 1 / (1 + math.Exp(-u.Offset-u.Slope*novelty)*(1-share)/share)
}

// A sighting is how new an example looks to a head.
type sighting struct{ novelty, weight float64 }

// fitUnseen fits the log odds to known examples and to those of classes that were not
// learned. It is nil if there are too few of one.
func fitUnseen(known, unseen []sighting) *Unseen {
	if len(known) < minNovelty || len(unseen) < minNovelty {
		return nil
	}
	// In units in which the ridge and the steps do not depend on the head.
	var all []float64
	for _, s := range slices.Concat(known, unseen) {
		all = append(all, s.novelty)
	}
	mean, scale := stat.MeanStdDev(all, nil)
	if notFinite(scale) || scale == 0 {
		return &Unseen{}
	}
	slope, offset := platt(standard(known, mean, scale), standard(unseen, mean, scale))
	u := &Unseen{Slope: slope / scale, Offset: offset - slope*mean/scale}
	if u.Check() != nil {
		return &Unseen{} // novelty tells nothing
	}
	return u
}

// standard returns examples in other units, with weights whose sum is ½.
func standard(examples []sighting, mean, scale float64) []sighting {
	sum := 0.0
	for _, s := range examples {
		sum += s.weight
	}
	out := make([]sighting, len(examples))
	for i, s := range examples {
		out[i] = sighting{(s.novelty - mean) / scale, s.weight / sum / 2}
	}
	return out
}

// ridge keeps the odds finite where the two kinds are apart.
const ridge = 1e-3

// platt returns the slope and the offset of the logistic curve, by Newton's method.
func platt(known, unseen []sighting) (slope, offset float64) {
	for range 50 {
		ga, gb := ridge*slope, 0.0        // gradient
		haa, hab, hbb := ridge, 0.0, 1e-9 // Hessian
		for kind, examples := range [][]sighting{known, unseen} {
			for _, s := range examples {
				p := 1 / (1 + math.Exp(-offset-slope*s.novelty))
				g, h := s.weight*(p-float64(kind)), s.weight*p*(1-p)
				ga, gb = ga+g*s.novelty, gb+g
				haa, hab, hbb = haa+h*s.novelty*s.novelty, hab+h*s.novelty, hbb+h
			}
		}
		det := haa*hbb - hab*hab
		da, db := (hbb*ga-hab*gb)/det, (haa*gb-hab*ga)/det
		slope, offset = slope-da, offset-db
		if math.Abs(da)+math.Abs(db) < 1e-10 {
			break
		}
	}
	return slope, offset
}

// Classes are left out in unseenParts parts, of which as many are asked about as hold
// unseenClasses. A head that knows a fifth fewer classes finds what it has not learned newer
// than one that knows all; with a tenth fewer half of that is gone, and twenty parts gain no
// more (docs/log/novelty.md).
const (
	unseenParts   = 10
	unseenClasses = 100
	slowParts     = 5 // of a Slow head, which is asked about one
)

// unseen returns how new the examples of classes look that a head has not learned. Classes
// that follow each other by name are left out apart, so that the varieties of a thing are not
// new together. Cost: up to unseenParts fits.
func (t Task) unseen(ctx context.Context, slow bool) ([]sighting, error) {
	classes := episodes.Classes(t.Sessions)
	if len(classes) < 3 {
		return nil, nil // what one class is like says nothing of others
	}
	parts, asked := min(unseenParts, len(classes)), unseenParts
	if slow {
		parts, asked = min(slowParts, len(classes)), 1
	}
	asked = min(asked, parts, (unseenClasses*parts+len(classes)-1)/len(classes))
	d := deal{}
	for _, session := range t.Sessions {
		d.held = append(d.held, make([]int, len(session.Y)))
	}
	for c, class := range classes {
		for _, at := range class.Examples {
			d.held[at.Session][at.Row] = c % parts
		}
	}
	found := make([][]sighting, asked)
	err := dense.ParallelErr(asked, func(f int) error {
		fold, err := t.without(ctx, d.held, f)
		if err == nil {
			found[f], err = fold.sightings()
		}
		return err
	})
	return slices.Concat(found...), err
}

// sightings returns how the examples that were left out look; every class counts the same.
func (f fold) sightings() ([]sighting, error) {
	novelties, err := episodes.Novelties(f.head, f.test.X)
	if err != nil {
		return nil, fmt.Errorf("leaving out classes: %w", err)
	}
	of := map[string]int{}
	for _, y := range f.test.Y {
		of[y]++
	}
	return perClass(novelties, f.test.Y, of), nil
}

// perClass returns examples of classes of which every one counts the same: of has their
// sizes.
func perClass(novelties []float64, classes []string, of map[string]int) []sighting {
	out := make([]sighting, len(novelties))
	for i, v := range novelties {
		out[i] = sighting{v, 1 / float64(of[classes[i]])}
	}
	return out
}

// alike returns examples that all count the same.
func alike(novelties []float64) []sighting {
	out := make([]sighting, len(novelties))
	for i, v := range novelties {
		out[i] = sighting{v, 1}
	}
	return out
}
