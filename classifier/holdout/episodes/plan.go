package episodes

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/random"
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

// NewPlan draws the splits of a base session: row i of x is an example of class
// y[i]. The error is a *TooLittleError if there is too little data.
//
// The classes in Shots are drawn from those with more than cfg.Shots examples
// and have exactly that many in Shots. Any other class has cfg.KeepShare of its
// examples in Base, at least one, and at least one held out unless it has only
// one.
func NewPlan(x blas32.General, y []string, cfg Config) (*Plan, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("pseudo-sessions: %w", err)
	}
	if err := classifier.CheckExamples(x, y, 0); err != nil {
		return nil, fmt.Errorf("pseudo-sessions: %w", err)
	}
	groups := classifier.GroupByClass(y)
	var usable []int
	for i, g := range groups {
		if len(g.Rows) > cfg.Shots {
			usable = append(usable, i)
		}
	}
	if len(usable) < minClasses {
		return nil, &TooLittleError{Classes: len(groups), Usable: len(usable), Shots: cfg.Shots}
	}
	byContent(groups, x)
	p := &Plan{}
	for s := range cfg.Splits {
		p.Splits = append(p.Splits, draw(groups, usable, cfg, s))
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
func draw(groups []classifier.Group, usable []int, cfg Config, split int) Split {
	novel := drawNovel(usable, cfg, split)
	var s Split
	for i, g := range groups {
		rows := slices.Clone(g.Rows)
		shuffle(rows, random.StreamOf(cfg.Seed, "classifier/episodes/examples", []string{g.Class}, split))
		if slices.Contains(novel, i) {
			s.Shots = append(s.Shots, rows[:cfg.Shots]...)
			s.NovelTest = append(s.NovelTest, first(rows[cfg.Shots:], cfg.TestPerClass)...)
			continue
		}
		keep := max(1, min(len(rows)-1, int(math.Round(cfg.KeepShare*float64(len(rows))))))
		s.Base = append(s.Base, rows[:keep]...)
		s.BaseTest = append(s.BaseTest, first(rows[keep:], cfg.TestPerClass)...)
	}
	return s
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
