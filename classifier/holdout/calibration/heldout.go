package calibration

import (
	"context"
	"fmt"
	"maps"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// Folds is the number of parts in which examples are left out, slowFolds that for
// a Slow head.
const (
	Folds     = 10
	slowFolds = 3
)

// A tally is what some held-out examples tell.
type tally struct {
	likelihood temperature.Likelihood
	novelty    []float64
	// Where examples are left out: the classes of these, and what their groups tell.
	classes  []string
	groups   groupTally
	clusters []*cluster // where groups are held out whole
	right    int
	wrong    map[[2]string]int
}

func (t *tally) accuracy() float64 { return float64(t.right) / float64(max(1, len(t.novelty))) }

func (t *tally) merge(other tally) {
	t.likelihood.Merge(&other.likelihood)
	t.novelty, t.right = append(t.novelty, other.novelty...), t.right+other.right
	t.classes = append(t.classes, other.classes...)
	maps.Copy(t.groups, other.groups)
	t.clusters = append(t.clusters, other.clusters...)
	for pair, n := range other.wrong {
		t.wrong[pair] += n
	}
}

// evenly returns the distribution of novelty in which every class counts the same,
// however many of its examples are left out (of): the photos that the thresholds are for
// may show any class, and a class of few images looks less familiar than one of many.
func (t *tally) evenly(of map[string]int) Novelty {
	weights := make([]float64, len(t.novelty))
	for i, name := range t.classes {
		weights[i] = 1 / float64(of[name])
	}
	return noveltyOf(t.novelty, weights)
}

// leftOut calibrates by folds over all sessions. If there are groups of like examples and
// the head does worse without them, they are held out whole.
func leftOut(ctx context.Context, t Task) (*temperature.Value, Calibration, error) {
	singles, groups, err := t.splits()
	if err != nil {
		return nil, Calibration{}, err
	}
	if singles.able < singles.classes-singles.able {
		return simulated(ctx, t)
	}
	all, accuracies, err := t.tallied(ctx, singles)
	if err != nil {
		return nil, Calibration{}, err
	}
	like := all.likelihood
	c, d := Calibration{Source: LeftOut, Accuracy: all.accuracy(), Parts: accuracies, Once: singles.once}, singles
	c.Novelty = all.evenly(singles.of)
	var wrong temperature.Share
	if len(all.novelty) >= tellsWrong*len(singles.of) {
		wrong = all.likelihood.Wrong()
	}
	var alikeApart []*cluster
	if groups != nil && 2*groups.able >= groups.classes {
		apart, parts, err := t.tallied(ctx, *groups)
		if err != nil {
			return nil, Calibration{}, err
		}
		c.Apart = parts
		alikeApart = apart.clusters
		if worse(apart.groups.accuracy(), all.accuracy(), len(apart.groups)) {
			all, d = apart, *groups
			c.Elsewhere = apart.accuracy()
			c.Other = apart.evenly(groups.of).Quantiles
		}
	}
	unseen, err := t.unseen(ctx, singles.slow)
	if err != nil {
		return nil, Calibration{}, err
	}
	c.Unseen = fitUnseen(perClass(all.novelty, all.classes, d.of), unseen, singles.classes)
	v := all.likelihood.MinimumWith(wrong)
	if c.Elsewhere > 0 {
		c.Understated = like.Understated(v)
	}
	c.Samples, c.Added = len(all.novelty), added(alikeApart, v.T)
	c.confused(all.wrong, d.of)
	return v, c, nil
}

// tellsWrong is the number of examples per class from which on wrong labels are looked for: with
// two or three, one that is hard looks the same.
const tellsWrong = 4

// moreErrors is how many times the errors grow, at the least, where groups of like
// examples are photos of the same occasion. In sets without occasions, where what looks
// alike does so by chance, they grew by 2 to 15 %; on shelves by 39 to 50 %.
const moreErrors = 1.25

// fewGroups is the number of groups below which their errors may be those of a class.
const fewGroups = 20

// worse reports whether the examples of n groups that are held out whole are named so much
// worse than single ones that it is no accident: by two standard errors.
func worse(apart, single float64, n int) bool {
	wrong := 1 - apart
	return n >= fewGroups && wrong > moreErrors*(1-single) &&
		single-apart > 2*math.Sqrt(wrong*apart/float64(n))
}

// tallied counts the answers for everything that is held out, and returns the accuracy in
// each fold that holds out something.
func (t Task) tallied(ctx context.Context, d deal) (all tally, accuracies []float64, err error) {
	folds := make([]tally, d.parts)
	err = dense.ParallelErr(d.parts, func(f int) (err error) {
		folds[f], err = t.leave(ctx, d, f)
		return err
	})
	all = tally{wrong: map[[2]string]int{}, groups: groupTally{}}
	for _, f := range folds {
		if len(f.novelty) > 0 {
			accuracies = append(accuracies, f.accuracy())
		}
		all.merge(f)
	}
	return all, accuracies, err
}

// A Verdict is an example and the answer of a head that has not learned it.
type Verdict struct {
	Place episodes.Place
	Head  classifier.Head
	// Answer is about the example as it is.
	episodes.Answer
	// Right reports whether it is named correctly once it is moved as for a calibration, where
	// a new example would be.
	Right bool
}

// LeaveOut calls visit with every example and the answer of a head that learned
// everything but the example's fold, which holds out groups of like examples if apart.
// The only example or group of a class is not left out. Several goroutines call visit at
// once. Cost: Folds fits.
func LeaveOut(ctx context.Context, t Task, apart bool, visit func(Verdict)) error {
	singles, groups, err := t.splits()
	if err != nil {
		return err
	}
	d := singles
	if apart && groups != nil {
		d = *groups
	}
	return dense.ParallelErr(d.parts, func(f int) error {
		fold, err := t.without(ctx, d.held, f)
		if err != nil || len(fold.places) == 0 {
			return err
		}
		right, err := fold.rightly(d)
		if err != nil {
			return err
		}
		return fold.answers(func(i int, a episodes.Answer) {
			visit(Verdict{Place: fold.places[i], Head: fold.head, Answer: a, Right: right[i]})
		})
	})
}

// A fold is a head that has learned the rest, and what was left out, of which there
// may be nothing.
type fold struct {
	head   classifier.Learner
	rests  []episodes.Episode
	test   episodes.Episode
	places []episodes.Place // of test
}

// without teaches a fresh head everything but fold f.
func (t Task) without(ctx context.Context, held [][]int, f int) (out fold, err error) {
	out.head, err = t.Fresh()
	if err != nil {
		return out, err
	}
	var tests []episodes.Episode
	for s, session := range t.Sessions {
		rest, test, left := session.Without(held[s], f)
		for _, i := range left {
			out.places = append(out.places, episodes.Place{Session: s, Row: i})
		}
		tests, out.rests = append(tests, test), append(out.rests, rest)
	}
	if out.test = joined(tests); len(out.places) == 0 {
		return out, nil
	}
	for _, rest := range out.rests {
		if len(rest.Y) == 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return out, err
		}
		if err := out.head.Learn(ctx, rest.X, rest.Y); err != nil {
			return out, fmt.Errorf("leaving out examples: %w", err)
		}
	}
	return out, nil
}

// answers calls visit with the head's answer for each example that was left out.
func (f fold) answers(visit func(i int, a episodes.Answer)) error {
	if len(f.places) == 0 {
		return nil
	}
	if err := episodes.Answers(f.head, f.test, visit); err != nil {
		return fmt.Errorf("leaving out examples: %w", err)
	}
	return nil
}

// askedAbout returns a fold with the examples that are asked about alone.
func (f fold) askedAbout(d deal) fold {
	var rows []int
	var places []episodes.Place
	for i, at := range f.places {
		if d.asked[at.Session][at.Row] {
			rows, places = append(rows, i), append(places, at)
		}
	}
	f.test, f.places = f.test.Pick(rows), places
	return f
}

// rightly reports which examples are named correctly once they are moved.
func (f fold) rightly(d deal) ([]bool, error) {
	f.test = f.test.Pick(dense.Range(0, len(f.test.Y)))
	approach(f.test, joined(f.rests), f.head, d.left(f))
	right := make([]bool, len(f.test.Y))
	err := f.answers(func(i int, a episodes.Answer) { right[i] = floats.MaxIdx(a.LogProb) == a.Own })
	return right, err
}

// leave counts the answers of a head that has learned everything but fold f.
func (t Task) leave(ctx context.Context, d deal, f int) (tally, error) {
	out := tally{wrong: map[[2]string]int{}, groups: groupTally{}}
	fold, err := t.without(ctx, d.held, f)
	if err != nil || len(fold.places) == 0 {
		return out, err
	}
	left := d.left(fold)
	fold = fold.askedAbout(d)
	out.classes = fold.test.Y
	keep := func(_ int, a episodes.Answer) { out.novelty = append(out.novelty, a.Novelty) }
	if err := fold.answers(keep); err != nil {
		return out, err
	}
	approach(fold.test, joined(fold.rests), fold.head, left)
	_, comparing := fold.head.(classifier.Comparing)
	var groups clusters
	err = fold.answers(func(i int, a episodes.Answer) {
		out.likelihood.Add(a.LogProb, a.Own)
		best, at := floats.MaxIdx(a.LogProb), fold.places[i]
		out.groups.add(fold.test.Y[i], d.group[at.Session][at.Row], best == a.Own)
		groups.add(fold.test.Y[i], d.group[at.Session][at.Row], a)
		if best == a.Own {
			out.right++
			if !comparing {
				out.novelty[i] = a.Novelty
			}
		} else {
			out.wrong[[2]string{fold.test.Y[i], fold.head.Classes()[best]}]++
		}
	})
	out.clusters = groups.several()
	return out, err
}

// approach moves left-out examples towards the mean of what is left of their
// classes in rest, until they are as far from it as new ones will be from the
// mean of all (package comment). sizes has m and n of each class, in groups: like
// examples tell little more of a mean than one of them.
func approach(test, rest episodes.Episode, head classifier.Head, sizes map[string][2]int) {
	doubting, doubts := head.(classifier.Doubting)
	left := map[string][]int{}
	for _, g := range classifier.GroupByClass(rest.Y) {
		left[g.Class] = g.Rows
	}
	for _, g := range classifier.GroupByClass(test.Y) {
		mean, m, n := dense.MeanRow(widened(rest.Pick(left[g.Class]).X)), sizes[g.Class][0], sizes[g.Class][1]
		nearer := math.Sqrt((1 + 1/float64(n)) / (1 + 1/float64(m)))
		if m == 1 && doubts {
			nearer *= math.Sqrt(doubting.Spread(m) / doubting.Spread(n))
		}
		for _, i := range g.Rows {
			row := dense.Row32(test.X, i)
			for j, v := range row {
				row[j] = float32(mean[j] + nearer*(float64(v)-mean[j]))
			}
		}
	}
}

// joined returns the rows of all sessions, one session after another.
func joined(sessions []episodes.Episode) episodes.Episode {
	d := sessions[0].X.Cols
	out := episodes.Episode{X: blas32.General{Cols: d, Stride: d}}
	for _, s := range sessions {
		for i := range s.Y {
			out.X.Data = append(out.X.Data, dense.Row32(s.X, i)...)
		}
		out.Y = append(out.Y, s.Y...)
	}
	out.X.Rows = len(out.Y)
	return out
}
