package naming

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

const (
	// folds is the number of parts in which examples are left out, mostLeftOut about
	// how many are: at least one of every class.
	folds       = 10
	mostLeftOut = 600
)

// counts returns the values of ν that are tried.
func counts() []int { return []int{0, 1, 2} }

// weights returns the values of ω: 0, and half-octaves from ¼ to 1024.
func weights() []float64 {
	out := []float64{0}
	for e := -2.0; e <= 10; e += 0.5 {
		out = append(out, math.Exp2(e))
	}
	return out
}

// A Task is what there is to choose by.
type Task struct {
	// Sessions are what the head has learned, in order.
	Sessions []episodes.Episode
	// Fresh returns an unfitted head with the settings of the head.
	Fresh func() (classifier.Learner, error)
}

// Choose returns words that count as much as suits the examples, and the temperature
// that goes with them; nil for words if there are no examples of two classes. Cost: ten fits.
func Choose(ctx context.Context, t Task, w *gauss.Words) (*gauss.Words, *temperature.Value, error) {
	held, classes := t.deal()
	if len(classes) < 2 {
		return nil, nil, nil
	}
	chosen := *w
	chosen.Doubted = doubted(t.Sessions, w)
	if t.few(classes, w) {
		chosen.Count, chosen.Weight = 1, mostlyNames
		return &chosen, &temperature.Value{T: mostlyNames}, nil
	}
	var all []answers
	for f := range folds {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		a, err := t.leave(ctx, held, f, chosen)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, a...)
	}
	value := best(all, &chosen)
	return &chosen, value, nil
}

// mostlyNames is ω and T with fewer examples than classes: names score as they do without
// examples, and log-densities, which lie tens of nats apart, decide between similar names.
const mostlyNames = 256

// few reports whether there are fewer examples than classes, with or without examples.
func (t Task) few(classes []string, w *gauss.Words) bool {
	all, n := len(w.Names), 0
	for _, name := range classes {
		if _, ok := slices.BinarySearch(w.Names, name); !ok {
			all++
		}
	}
	for _, s := range t.Sessions {
		n += len(s.Y)
	}
	return n < all
}

// deal returns the fold of each example of each session, −1 for one that is not left out,
// and the classes.
func (t Task) deal() (held [][]int, classes []string) {
	for _, session := range t.Sessions {
		held = append(held, slices.Repeat([]int{-1}, len(session.Y)))
	}
	all := episodes.Classes(t.Sessions)
	each, next := max(1, mostLeftOut/max(1, len(all))), 0
	for _, class := range all {
		classes = append(classes, class.Name)
		for _, at := range class.Examples[:min(each, len(class.Examples))] {
			held[at.Session][at.Row] = next % folds
			next++
		}
	}
	return held, classes
}

// answers are those to the examples of a fold, for one ν: log-probabilities of examples, and
// what ω = 1 adds to them.
type answers struct {
	count           int
	examples, names blas64.General
	own             []int
}

// leave returns the answers of a head that has not learned the examples of a fold.
func (t Task) leave(ctx context.Context, held [][]int, f int, w gauss.Words) ([]answers, error) {
	head, err := t.Fresh()
	if err != nil {
		return nil, err
	}
	var tests []episodes.Episode
	for s, session := range t.Sessions {
		rest, test, _ := session.Without(held[s], f)
		tests = append(tests, test)
		if len(rest.Y) == 0 {
			continue
		}
		if err := head.Learn(ctx, rest.X, rest.Y); err != nil {
			return nil, err
		}
	}
	var out []answers
	for _, nu := range counts() {
		w.Count = nu
		a, err := ask(head, w, tests)
		if err != nil {
			return nil, err
		}
		out = append(out, a...)
	}
	return out, nil
}

// ask returns the answers to examples of classes that the head knows.
func ask(head classifier.Learner, w gauss.Words, tests []episodes.Episode) ([]answers, error) {
	named := head.(gauss.WordUser)
	var out []answers
	for _, test := range tests {
		if len(test.Y) == 0 {
			continue
		}
		w.Weight = 0
		plain, err := scored(named, head, w, test.X)
		if err != nil {
			return nil, err
		}
		w.Weight = 1
		added, err := scored(named, head, w, test.X)
		if err != nil {
			return nil, err
		}
		blas64.Axpy(-1, dense.Vector(plain.Data), dense.Vector(added.Data))
		a := answers{count: w.Count, examples: plain, names: added, own: make([]int, len(test.Y))}
		for i, y := range test.Y {
			a.own[i] = slices.Index(head.Classes(), y)
		}
		out = append(out, a)
	}
	return out, nil
}

func scored(named gauss.WordUser, head classifier.Head, w gauss.Words, x blas32.General) (blas64.General, error) {
	if err := named.UseWords(&w); err != nil {
		return blas64.General{}, err
	}
	out := dense.New(x.Rows, len(head.Classes()))
	return out, head.Score(out, nil, x)
}

// A trial is what held-out examples say of one ν and ω.
type trial struct {
	count      int
	weight     float64
	likelihood temperature.Likelihood
	loss       float64
}

// useless is what the doubt in names costs that do not count at all, in nats: that of ω/T = e⁻²
// or e².
const useless = 2

// judge computes the loss: the negative log-likelihood of the examples, and a doubt about an
// ω/T other than 1, which it is for names that their network scores well. It decides
// where there are only a few examples.
func (t *trial) judge() {
	doubt := float64(useless)
	if ratio := t.weight / t.likelihood.Minimum().T; ratio > 0 {
		doubt = math.Log(ratio) * math.Log(ratio) / 2
	}
	t.loss = float64(t.likelihood.Len())*t.likelihood.Loss() + doubt
}

// best sets ν and ω to those with the lowest loss, and returns the temperature.
func best(all []answers, w *gauss.Words) *temperature.Value {
	var trials []*trial
	for _, nu := range counts() {
		for _, omega := range weights() {
			trials = append(trials, &trial{count: nu, weight: omega})
		}
	}
	dense.Parallel(len(trials), func(k int) {
		t := trials[k]
		for _, a := range all {
			if a.count != t.count {
				continue
			}
			scores := dense.Clone(a.examples)
			blas64.Axpy(t.weight, dense.Vector(a.names.Data), dense.Vector(scores.Data))
			for i, own := range a.own {
				if own >= 0 {
					t.likelihood.Add(dense.Row(scores, i), own)
				}
			}
		}
		t.judge()
	})
	found := slices.MinFunc(trials, func(a, b *trial) int { return cmp.Compare(a.loss, b.loss) })
	w.Count, w.Weight = found.count, found.weight
	return found.likelihood.Minimum()
}
