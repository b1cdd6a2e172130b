package calibration

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/onnx"
)

// An Unseen tells how probable it is that an example is of no class that was learned: where
// new and known examples are equally frequent, its log odds are
//
//	Offset + Slope × novelty + Bend × |novelty − Middle|
//
// (Platt 1999, with a bend where both are equally probable). Slope is at least |Bend|: what is
// more novel is more probably new.
type Unseen struct {
	Slope  float64 `json:"slope"`
	Offset float64 `json:"offset"`
	Bend   float64 `json:"bend,omitempty"`
	Middle float64 `json:"middle,omitempty"`
}

// Check returns an error unless the numbers can be those of a fit.
func (u Unseen) Check() error {
	if slices.ContainsFunc([]float64{u.Slope, u.Offset, u.Bend, u.Middle}, notFinite) || u.Slope < math.Abs(u.Bend) {
		return fmt.Errorf("%+v do not tell new from known examples", u)
	}
	return nil
}

// P returns the probability that an example of some novelty is of no class that was
// learned, if a share of the examples is, 0 to 1.
func (u Unseen) P(novelty, share float64) float64 {
	slope, beyond := u.Slope-u.Bend, novelty-u.Middle
	if beyond > 0 {
		slope = u.Slope + u.Bend
	}
	return 1 / (1 + math.Exp(-u.Offset-u.Slope*u.Middle-slope*beyond)*(1-share)/share)
}

// Graph is P as a graph, for novelties (n×1 float64).
func (u Unseen) Graph(g *onnx.Graph, novelty string, share float64) string {
	bent := g.Op("Mul", g.Op("Abs", g.Op("Sub", novelty, g.Scalar(u.Middle))), g.Scalar(u.Bend))
	odds := g.Op("Add", g.Op("Mul", novelty, g.Scalar(u.Slope)), g.Scalar(u.Offset+math.Log(share/(1-share))))
	return g.Op("Sigmoid", g.Op("Add", odds, bent))
}

// A sighting is how new an example looks to a head.
type sighting struct{ novelty, weight float64 }

// fitUnseen fits the log odds to known examples and to those of some classes that were not
// learned. It is nil if there are too few of one.
func fitUnseen(known, unseen []sighting, classes int) *Unseen {
	if len(known) < minNovelty || len(unseen) < minNovelty {
		return nil
	}
	// In units in which ridges and steps do not depend on the head.
	var all []float64
	for _, s := range slices.Concat(known, unseen) {
		all = append(all, s.novelty)
	}
	mean, scale := stat.MeanStdDev(all, nil)
	if notFinite(scale) || scale == 0 {
		return &Unseen{}
	}
	u := curve(standard(known, mean, scale), standard(unseen, mean, scale), classes)
	u.Slope, u.Bend = u.Slope/scale, u.Bend/scale
	u.Offset -= u.Slope * mean
	if u.Bend != 0 {
		u.Middle = mean + scale*u.Middle
	}
	if u.Check() != nil {
		return &Unseen{} // novelty tells nothing
	}
	return &u
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

// ridge keeps the odds finite where the two kinds are apart, level that of the offset where
// all are certain.
const (
	ridge = 1e-3
	level = 1e-9
)

// curve fits a straight line of log odds, and a bend where it crosses nought. Few classes say
// little of a bend: before they are seen it is normal with mean 0 and deviation 1, and each
// class counts as one known and one new example.
func curve(known, unseen []sighting, classes int) Unseen {
	line := []term{{func(x float64) float64 { return x }, ridge}, {func(float64) float64 { return 1 }, level}}
	w := logistic(known, unseen, line)
	straight, middle := Unseen{Slope: w[0], Offset: w[1]}, -w[1]/w[0]
	below := func(s sighting) bool { return s.novelty < middle }
	above := func(s sighting) bool { return s.novelty > middle }
	if !(w[0] > 0 && slices.ContainsFunc(known, below) && slices.ContainsFunc(unseen, above)) {
		return straight
	}
	away := term{func(x float64) float64 { return math.Abs(x - middle) }, 1 / float64(2*classes)}
	w = logistic(known, unseen, append(line, away))
	bent := Unseen{Slope: w[0], Offset: w[1], Bend: w[2], Middle: middle}
	if bent.Check() != nil {
		return straight
	}
	return bent
}

// A term of the log odds is a function of the novelty; ridge/2 times the square of its weight
// is added to the loss.
type term struct {
	of    func(novelty float64) float64
	ridge float64
}

// logistic returns the weights of terms whose sum is the log odds of an example to be unseen,
// by Newton's method. The loss is the mean negative log-likelihood.
func logistic(known, unseen []sighting, terms []term) []float64 {
	w, x := mat.NewVecDense(len(terms), nil), mat.NewVecDense(len(terms), nil)
	for range 50 {
		gradient, hessian := mat.NewVecDense(len(terms), nil), mat.NewSymDense(len(terms), nil)
		for j, t := range terms {
			gradient.SetVec(j, t.ridge*w.AtVec(j))
			hessian.SetSym(j, j, t.ridge)
		}
		for kind, examples := range [][]sighting{known, unseen} {
			for _, s := range examples {
				for j, t := range terms {
					x.SetVec(j, t.of(s.novelty))
				}
				p := 1 / (1 + math.Exp(-mat.Dot(w, x)))
				gradient.AddScaledVec(gradient, s.weight*(p-float64(kind)), x)
				hessian.SymRankOne(hessian, s.weight*p*(1-p), x)
			}
		}
		var root mat.Cholesky
		var step mat.VecDense
		if !root.Factorize(hessian) || root.SolveVecTo(&step, gradient) != nil {
			break
		}
		w.SubVec(w, &step)
		if mat.Norm(&step, 1) < 1e-10 {
			break
		}
	}
	return w.RawVector().Data
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
// new together. Cost: up to unseenParts fits, of the head that its novelty comes from.
func (t Task) unseen(ctx context.Context, slow bool) ([]sighting, error) {
	classes := episodes.Classes(t.Sessions)
	if len(classes) < 3 {
		return nil, nil // what one class is like says nothing of others
	}
	t.Fresh = noveltyOnly(t.Fresh)
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

// noveltyOnly returns heads that need not tell more than the novelty of those that fresh
// returns.
func noveltyOnly(fresh func() (classifier.Learner, error)) func() (classifier.Learner, error) {
	return func() (classifier.Learner, error) {
		head, err := fresh()
		guided, ok := head.(classifier.Guided)
		if ok && err == nil {
			if other := guided.NoveltyHead(); other != nil {
				return other, nil
			}
		}
		return head, err
	}
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
