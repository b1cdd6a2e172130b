package calibration

import (
	"context"
	"errors"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
)

// maxScores bounds the scores of the held-out examples of a pseudo-session:
// examples × classes.
const maxScores = 4 << 20

// pseudoSessions calibrates on episodes of the base session: with base classes alone,
// and with later ones, whose weight is their share of the classes. Photos of one occasion are
// held out together if the head does worse without them. Like examples are not: in large
// classes of few dimensions everything has a neighbour.
func pseudoSessions(ctx context.Context, t Task) (*temperature.Value, Calibration, error) {
	z, from := t.Sessions[0], t.Embeddings
	if from.Rows == 0 {
		from = z.X
	}
	cfg := episodes.Seeded(t.Seed)
	cfg.Splits = 5
	classes := episodes.Classes(t.Sessions)
	cfg.TestPerClass = max(1, min(cfg.TestPerClass, maxScores/(len(classes)*len(classes))))
	singles, err := t.draw(ctx, episodes.Episode{X: from, Y: z.Y}, cfg)
	if err != nil {
		return nil, Calibration{}, err
	}
	c := Calibration{Source: PseudoSessions, Samples: singles.samples, Accuracy: singles.many.accuracy(),
		Parts: singles.parts, Novelty: noveltyOf(singles.many.novelty, nil),
		Once: t.once(classes)}
	c.confused(singles.wrong, singles.of)
	other := noveltyOf(singles.few.novelty, nil)
	if c.Quantiles != nil && other.Quantiles != nil {
		c.Few, c.Shots = other.Quantiles, cfg.Shots
	}
	told := singles
	if !c.Once && t.shared(classes) {
		apart, err := t.draw(ctx, episodes.Episode{X: from, Y: z.Y, Taken: z.Taken}, cfg)
		little := (*episodes.TooLittleError)(nil)
		if err != nil && !errors.As(err, &little) {
			return nil, Calibration{}, err
		}
		c.Apart = apart.parts
		if worse(apart.many.accuracy(), c.Accuracy, apart.classes) {
			told = apart
			c.Elsewhere = apart.many.accuracy()
			c.Other = noveltyOf(apart.many.novelty, nil).Quantiles
		}
	}
	// Among later classes an example that has the label of one of them is compared with its own.
	// Those of later classes do not count: a head that hardly knows these is often sure and wrong.
	wrong := singles.many.likelihood.Wrong()
	both := temperature.Mixed(&told.many.likelihood, &told.few.likelihood, cfg.NovelShare)
	v := temperature.Staged(&told.alone.likelihood, &both, wrong)
	v.Config = &cfg
	if c.Elsewhere > 0 { // as long as there are base classes alone
		c.Understated = singles.alone.likelihood.Understated(v)
	}
	c.Unseen = fitUnseen(alike(told.alone.novelty), alike(told.unseen), len(classes))
	return v, c, nil
}

// drawn is what pseudo-sessions tell: of examples of base classes before and after later
// ones were learned, and of those of later classes, learned from few and not yet.
type drawn struct {
	alone, many, few tally
	unseen           []float64
	parts            []float64 // accuracy of each: the mean of many and few
	samples          int       // held out, each counted once
	classes          int       // that are held out in part, in all pseudo-sessions
	// wrong counts the names of base examples, and of has how many there are of each class, where each is held
	// out first: after later classes were learned.
	wrong map[[2]string]int
	of    map[string]int
}

// draw asks heads about the pseudo-sessions of the first session, drawn from s.
func (t Task) draw(ctx context.Context, s episodes.Episode, cfg episodes.Config) (out drawn, err error) {
	plan, err := episodes.NewPlan(s, cfg)
	if err != nil {
		return out, err
	}
	bySplit := make([]drawn, cfg.Splits)
	first := map[int]int{} // the pseudo-session in which an example is held out first
	for number, split := range slices.Backward(plan.Splits) {
		bySplit[number].wrong, bySplit[number].of = map[[2]string]int{}, map[string]int{}
		for _, row := range split.BaseTest {
			first[row] = number
		}
	}
	z := t.Sessions[0]
	err = episodes.HeldOut(ctx, plan, z.X, z.Y, t.Fresh, func(split int, a episodes.Answer) {
		k := &bySplit[split].many
		switch {
		case a.Novel && a.Alone:
			bySplit[split].unseen = append(bySplit[split].unseen, a.Novelty)
			return
		case a.Novel:
			k = &bySplit[split].few
		case a.Alone:
			k = &bySplit[split].alone
		}
		if !a.Novel && !a.Alone && first[a.Row] == split {
			bySplit[split].name(a)
		}
		k.likelihood.Add(a.LogProb, a.Own)
		if floats.MaxIdx(a.LogProb) == a.Own {
			k.right++
		}
		k.novelty = append(k.novelty, a.Novelty)
	})
	out.wrong, out.of = map[[2]string]int{}, map[string]int{}
	for _, split := range bySplit {
		for pair, n := range split.wrong {
			out.wrong[pair] += n
		}
		for class, n := range split.of {
			out.of[class] += n
		}
		out.parts = append(out.parts, (split.many.accuracy()+split.few.accuracy())/2)
		out.alone.merge(split.alone)
		out.many.merge(split.many)
		out.few.merge(split.few)
		out.unseen = append(out.unseen, split.unseen...)
	}
	out.samples = plan.HeldOut()
	for _, s := range plan.Splits {
		held := map[string]bool{}
		for _, row := range s.BaseTest {
			held[z.Y[row]] = true
		}
		out.classes += len(held)
	}
	return out, err
}

// name counts what an example was named.
func (d *drawn) name(a episodes.Answer) {
	if d.of[a.Class]++; a.Named != a.Class {
		d.wrong[[2]string{a.Class, a.Named}]++
	}
}
