package episodes

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/internal/setting"
)

// A Plan holds the pseudo-sessions of one base session.
type Plan struct {
	Splits []Split
}

// HeldOut returns the number of examples that any split holds out.
func (p *Plan) HeldOut() int {
	rows := map[int]bool{}
	for _, s := range p.Splits {
		for _, r := range slices.Concat(s.BaseTest, s.NovelTest) {
			rows[r] = true
		}
	}
	return len(rows)
}

// A Split is one draw of distinct rows of the base session.
type Split struct {
	// Base is learned first, then Shots.
	Base, Shots []int
	// BaseTest holds held-out examples of the classes in Base, NovelTest of those
	// in Shots.
	BaseTest, NovelTest []int
}

// NewPlan draws the splits of a base session. The error is a *TooLittleError if there is
// too little data.
//
// The classes in Shots are drawn from those with cfg.Shots examples or more besides those of
// their largest occasion (holdout.Occasions), and have exactly that many in Shots. Any other
// class has cfg.KeepShare of its examples in Base, at least one, and at least one held out
// unless it has only one. No split has photos of one occasion on both sides: of a class of one
// occasion everything is in Base.
func NewPlan(s Episode, cfg Config) (*Plan, error) {
	cfg = setting.OrDefault(cfg, DefaultConfig())
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("pseudo-sessions: %w", err)
	}
	if err := classifier.CheckExamples(s.X, s.Y, 0); err != nil {
		return nil, fmt.Errorf("pseudo-sessions: %w", err)
	}
	groups := classifier.GroupByClass(s.Y)
	var usable []int
	for i, g := range groups {
		if len(g.Rows)-s.longest(g.Rows) >= cfg.Shots {
			usable = append(usable, i)
		}
	}
	if len(usable) < minClasses {
		return nil, &TooLittleError{Classes: len(groups), Usable: len(usable), Shots: cfg.Shots}
	}
	byContent(groups, s.X)
	p := &Plan{}
	for i := range cfg.Splits {
		p.Splits = append(p.Splits, s.draw(groups, usable, cfg, i))
	}
	return p, nil
}

// NewFolds divides a base session that is too small for pseudo-sessions: every
// split holds out up to ⌈n/folds⌉ of the n examples of each class, as BaseTest,
// and learns the others, as Base. Every example is held out once, except the only
// one of a class, which is always learned. No split holds out nothing.
func NewFolds(x blas32.General, y []string, folds int) *Plan {
	groups := classifier.GroupByClass(y)
	byContent(groups, x)
	splits, next := make([]Split, folds), 0
	for _, g := range groups {
		rows := slices.Clone(g.Rows)
		shuffle(rows, random.StreamOf(0, "classifier/episodes/folds", []string{g.Class}))
		for _, r := range rows {
			for f := range splits {
				if s := &splits[f]; f == next%folds && len(rows) > 1 {
					s.BaseTest = append(s.BaseTest, r)
				} else {
					s.Base = append(s.Base, r)
				}
			}
			if len(rows) > 1 {
				next++
			}
		}
	}
	return &Plan{slices.DeleteFunc(splits, func(s Split) bool { return len(s.BaseTest) == 0 })}
}

// byContent sorts the rows of every group; equal examples are interchangeable.
func byContent(groups []classifier.Group, x blas32.General) {
	for _, g := range groups {
		slices.SortFunc(g.Rows, func(a, b int) int {
			return slices.Compare(dense.Row32(x, a), dense.Row32(x, b))
		})
	}
}

// draw draws one split.
func (s Episode) draw(groups []classifier.Group, usable []int, cfg Config, split int) (out Split) {
	novel := drawNovel(usable, cfg, split)
	for i, g := range groups {
		rows := slices.Clone(g.Rows)
		shuffle(rows, random.StreamOf(cfg.Seed, "classifier/episodes/examples", []string{g.Class}, split))
		rows, ends := s.together(rows)
		if slices.Contains(novel, i) {
			out.Shots = append(out.Shots, rows[:cfg.Shots]...)
			out.NovelTest = append(out.NovelTest, first(rows[after(ends, cfg.Shots):], cfg.TestPerClass)...)
			continue
		}
		keep := max(1, min(len(rows)-1, int(math.Round(cfg.KeepShare*float64(len(rows))))))
		keep = after(ends, keep)
		if keep == len(rows) && len(ends) > 1 {
			keep = ends[len(ends)-2]
		}
		out.Base = append(out.Base, rows[:keep]...)
		out.BaseTest = append(out.BaseTest, first(rows[keep:], cfg.TestPerClass)...)
	}
	return out
}

// together sorts rows of a class so that those of one occasion follow each other, in the
// order in which occasions first occur, and returns where each ends.
func (s Episode) together(rows []int) (sorted, ends []int) {
	if s.Taken == nil {
		return rows, dense.Range(1, len(rows)+1)
	}
	occasion := s.occasions(rows)
	order := dense.Range(0, len(rows))
	slices.SortStableFunc(order, func(i, j int) int { return occasion[i] - occasion[j] })
	for at, i := range order {
		sorted = append(sorted, rows[i])
		if at > 0 && occasion[i] != occasion[order[at-1]] {
			ends = append(ends, at)
		}
	}
	return sorted, append(ends, len(rows))
}

func (s Episode) occasions(rows []int) []int {
	taken := make([]holdout.Taken, len(rows))
	for i, r := range rows {
		taken[i] = s.TakenAt(r)
	}
	return holdout.Occasions(taken)
}

// longest returns the number of photos of the occasion that has most of some rows.
func (s Episode) longest(rows []int) int {
	if s.Taken == nil {
		return 1
	}
	n := make([]int, len(rows))
	for _, o := range s.occasions(rows) {
		n[o]++
	}
	return slices.Max(n)
}

// after returns the first of the ends that is n at least.
func after(ends []int, n int) int {
	at, _ := slices.BinarySearch(ends, n)
	return ends[at]
}

// drawNovel returns which of the usable classes act as later ones: at least
// one, and at most all but one.
func drawNovel(usable []int, cfg Config, split int) []int {
	n := int(math.Round(cfg.NovelShare * float64(len(usable))))
	n = min(max(n, 1), len(usable)-1)
	order := slices.Clone(usable)
	shuffle(order, random.Stream(cfg.Seed, "classifier/episodes/novel", split))
	return order[:n]
}

func shuffle(rows []int, rng *rand.Rand) {
	rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
}

func first(rows []int, n int) []int { return rows[:min(n, len(rows))] }
