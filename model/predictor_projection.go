package model

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
	"github.com/seed-90d10d51/pipeline/dkl"
)

// A Comparison tells how the head behind a projection and the head alone did on
// examples of the base session that neither had learned.
type Comparison struct {
	// Samples is the number of held-out examples; 0 if there were too few to hold
	// any out.
	Samples int `json:"samples"`
	// With and Without are the accuracies with and without the projection, from 0
	// to 1: with a large base session the mean of those of base and of later
	// classes. Error is the standard error of their difference.
	With    float64 `json:"with"`
	Without float64 `json:"without"`
	Error   float64 `json:"standard_error"`
}

// pays reports whether the projection gains more than the standard error.
func (c Comparison) pays() bool { return c.With-c.Without > c.Error }

func (c Comparison) String() string {
	if c.Samples == 0 {
		return "too few images to hold any out and compare"
	}
	return fmt.Sprintf("accuracy on %d held-out images: %.1f %% with the projection, %.1f %% without, standard "+
		"error of the difference %.1f", c.Samples, 100*c.With, 100*c.Without, 100*c.Error)
}

// teachBase trains the projection, unless that is decided, and the head on the
// base session.
func (p *Predictor) teachBase(ctx context.Context, x blas32.General, y []string) error {
	if p.dkl == nil {
		return p.Head.Learn(ctx, x, y)
	}
	var trained dkl.Trained
	if p.Projection == nil && p.Comparison == nil { // nothing is decided yet
		var err error
		if trained, p.Comparison, err = p.trainProjection(ctx, x, y); err != nil {
			return err
		}
		p.Projection = trained.Projection
	}
	z, err := p.project(x)
	if err != nil {
		return err
	}
	return p.dkl.Teach(ctx, p.Head, trained, z, y)
}

// trainProjection returns a trained projection, none if it does not pay, and what it was
// compared with, nil for nothing.
func (r *recipe) trainProjection(ctx context.Context, x blas32.General, y []string) (none dkl.Trained, c *Comparison,
	err error) {
	if err := classifier.CheckExamples(x, y, 0); err != nil {
		return none, nil, fmt.Errorf("dkl: learn: %w", err)
	}
	if r.dkl.Training.Keep == dkl.KeepEvidence {
		found, err := r.compare(ctx, x, y)
		if err != nil {
			return none, nil, fmt.Errorf("compare with and without the projection: %w", err)
		}
		c = &found
		if !c.pays() {
			r.say("the projection does not pay and is left out", found)
			return none, c, nil
		}
		r.say("the projection pays and is kept", found)
	}
	trained, err := dkl.Train(ctx, r.dkl.Training, r.dkl.Tree, r.env, x, y)
	return trained, c, err
}

func (r *recipe) say(message string, c Comparison) {
	if r.env.Say != nil {
		r.env.Say(message, "why", c.String())
	}
}

// What a comparison holds out: one part, so that choosing costs no more than training.
const (
	comparedFolds    = 3  // with few examples per class, a third of them
	comparedPerClass = 50 // with many, a pseudo-session with at most so many examples of a class
)

// compare teaches heads a part of the base session, behind a projection trained on
// that part and without, and asks both about the rest. Cost: a training on the part,
// which is smaller than the one on all of it, and two fits.
func (r *recipe) compare(ctx context.Context, x blas32.General, y []string) (Comparison, error) {
	plan, err := r.parts(x, y)
	if err != nil {
		return Comparison{}, err
	}
	set, trial := *r.dkl, *r
	set.Training.Keep = dkl.KeepAlways
	trial.dkl, trial.temperature, trial.uncalibrated = &set, temperature.Config{Temperature: 1}, true
	trial.env.Train = trial.env.Try
	with, err := answers(ctx, plan, x, y, func() (classifier.Learner, error) {
		next := &Predictor{recipe: trial}
		head, err := next.newHead()
		next.Head = head
		return next, err
	})
	if err != nil {
		return Comparison{}, err
	}
	without, err := answers(ctx, plan, x, y, r.newHead)
	if err != nil {
		return Comparison{}, err
	}
	return compared(with, without), nil
}

// parts divides the base session into what is learned and what is held out: by a
// pseudo-session, which also shows what the projection does to later classes, or
// by a fold where classes are too small for that, as in package calibration.
func (r *recipe) parts(x blas32.General, y []string) (*episodes.Plan, error) {
	most := 0
	for _, g := range classifier.GroupByClass(y) {
		most = max(most, len(g.Rows))
	}
	if most > calibration.MaxPerClass {
		cfg := episodes.Seeded(r.seed)
		cfg.Splits, cfg.TestPerClass = 1, comparedPerClass
		plan, err := episodes.NewPlan(episodes.Episode{X: x, Y: y}, cfg)
		if little := (*episodes.TooLittleError)(nil); !errors.As(err, &little) {
			return plan, err
		}
	}
	plan := episodes.NewFolds(x, y, comparedFolds)
	plan.Splits = plan.Splits[:min(1, len(plan.Splits))]
	return plan, nil
}

// answers reports for each split which of its held-out examples a head made by
// fresh names correctly: those of base classes, and those of later ones.
func answers(ctx context.Context, plan *episodes.Plan, x blas32.General, y []string,
	fresh func() (classifier.Learner, error)) ([][2][]bool, error) {
	right := make([][2][]bool, len(plan.Splits))
	err := episodes.HeldOut(ctx, plan, x, y, fresh, func(split int, a episodes.Answer) {
		if a.Alone {
			return
		}
		kind := 0
		if a.Novel {
			kind = 1
		}
		right[split][kind] = append(right[split][kind], floats.MaxIdx(a.LogProb) == a.Own)
	})
	return right, err
}

// compared compares answers about the same examples. Base and later classes count
// equally; the standard error is that of paired examples.
func compared(with, without [][2][]bool) Comparison {
	var c Comparison
	var kinds, variance float64
	for kind := range 2 {
		var n, a, b, differ int
		for s := range with {
			for i, right := range with[s][kind] {
				other := without[s][kind][i]
				n, a, b, differ = n+1, a+count(right), b+count(other), differ+count(right != other)
			}
		}
		if n == 0 {
			continue
		}
		kinds++
		c.Samples += n
		c.With, c.Without = c.With+float64(a)/float64(n), c.Without+float64(b)/float64(n)
		variance += float64(differ) / float64(n*n)
	}
	if kinds > 0 {
		c.With, c.Without, c.Error = c.With/kinds, c.Without/kinds, math.Sqrt(variance)/kinds
	}
	return c
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}
