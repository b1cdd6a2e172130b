package gauss

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// ErrWords means that a head has no use for the texts of class names.
var ErrWords = errors.New("words")

// A WordUser is a head that knows classes by their names, too.
type WordUser interface {
	// UseWords replaces the words; nil is none. Named classes that the head does not have
	// become classes without examples, and those without examples that are named no
	// longer vanish. The error wraps ErrWords.
	UseWords(*Words) error
	// Words returns them, nil for none. They are never changed, only replaced.
	Words() *Words
	// Started reports whether the head has learned from examples.
	Started() bool
}

// logit is the factor of the cosine of an image and a text in the softmax with which
// networks of both are trained (Radford et al. 2021).
const logit = 100

// Words holds what a network of texts says about classes, and how much that counts
// (package comment).
type Words struct {
	// Names are the classes that have a text, in order; row i of Texts (length 1) is that
	// of Names[i].
	Names []string       `json:"names"`
	Texts blas32.General `json:"-"`
	// Doubted are the names that are set aside because the examples of their classes
	// contradict them.
	Doubted []string `json:"doubted,omitempty"`
	// Count is ν, the number of examples that a name counts as.
	Count int `json:"count"`
	// Weight is ω, that of the score of names.
	Weight float64 `json:"weight"`
}

// NewWords returns the words of classes (n×d), which count as in a head that has seen no
// examples. Texts are scaled to length 1; one that is zero or not finite is an error.
func NewWords(texts map[string][]float32) (*Words, error) {
	w := &Words{Names: slices.Sorted(maps.Keys(texts)), Weight: 1}
	for _, name := range w.Names {
		text := texts[name]
		if w.Texts.Cols == 0 {
			w.Texts.Cols, w.Texts.Stride = len(text), len(text)
		}
		unit := make([]float64, len(text))
		classifier.Unit(unit, text)
		if len(text) != w.Texts.Cols || !(math.Abs(dense.SumSquares(unit)-1) <= 1e-6) {
			return nil, fmt.Errorf("the text of class %q is zero, not finite, or not of %d values", name, w.Texts.Cols)
		}
		w.Texts.Rows, w.Texts.Data = w.Texts.Rows+1, append(w.Texts.Data, dense.Narrowed(unit)...)
	}
	if len(w.Names) == 0 {
		return nil, errors.New("there are no texts")
	}
	return w, nil
}

// ByName returns the texts by class.
func (w *Words) ByName() map[string][]float32 {
	texts := map[string][]float32{}
	if w == nil {
		return texts
	}
	for i, name := range w.Names {
		texts[name] = dense.Row32(w.Texts, i)
	}
	return texts
}

// Of returns the words of the classes that keep allows, nil if none are left.
func (w *Words) Of(keep func(name string) bool) *Words {
	next := *w
	next.Names, next.Texts = nil, blas32.General{Cols: w.Texts.Cols, Stride: w.Texts.Cols}
	for i, name := range w.Names {
		if keep(name) {
			next.Names, next.Texts.Rows = append(next.Names, name), next.Texts.Rows+1
			next.Texts.Data = append(next.Texts.Data, dense.Row32(w.Texts, i)...)
		}
	}
	next.Doubted = slices.DeleteFunc(slices.Clone(w.Doubted), func(name string) bool { return !keep(name) })
	if len(next.Names) == 0 {
		return nil
	}
	return &next
}

// Cosines returns 100·cos(x, t) for every text, the scores of a model without examples.
func (w *Words) Cosines(x []float32) []float64 {
	unit, scores := make([]float64, len(x)), make([]float64, len(w.Names))
	classifier.Unit(unit, x)
	for i := range scores {
		for j, v := range dense.Row32(w.Texts, i) {
			scores[i] += logit * float64(v) * unit[j]
		}
	}
	return scores
}

// Renamed returns the words after a class has been renamed; if there was a class of the
// new name, its own text stays.
func (w *Words) Renamed(class, to string) *Words {
	texts := w.ByName()
	text, ok := texts[class]
	if !ok {
		return w
	}
	delete(texts, class)
	if _, there := texts[to]; !there {
		texts[to] = text
	}
	next, err := NewWords(texts)
	if err != nil {
		return w // cannot be: they were words before
	}
	next.Count, next.Weight = w.Count, w.Weight
	for _, name := range w.Doubted {
		if name == class {
			name = to
		}
		next.Doubted = append(next.Doubted, name)
	}
	return next
}

// Tensor returns the texts, to be saved; Restore reads them back, of d values.
func (w *Words) Tensor() classifier.Tensor {
	return classifier.Tensor{Shape: []int{w.Texts.Rows, w.Texts.Cols}, F32: slices.Clone(w.Texts.Data)}
}

// Restore completes words that were read, with their texts.
func (w *Words) Restore(t classifier.Tensor, d int) error {
	n := len(w.Names)
	sorted := slices.IsSorted(w.Names) && len(slices.Compact(slices.Clone(w.Names))) == n
	switch {
	case !slices.Equal(t.Shape, []int{n, d}) || len(t.F32) != n*d:
		return fmt.Errorf("the texts have shape %v, not %d×%d", t.Shape, n, d)
	case n == 0 || !sorted || w.Count < 0 || w.Count > maxCount || !(w.Weight >= 0 && w.Weight < 1e9):
		return fmt.Errorf("%d names that count as %d examples, with a weight of %g", n, w.Count, w.Weight)
	}
	w.Texts = blas32.General{Rows: n, Cols: d, Stride: d, Data: t.F32}
	for i, name := range w.Names {
		if length := dense.SumSquares(widened(dense.Row32(w.Texts, i))); !(math.Abs(length-1) < 1e-3) {
			return fmt.Errorf("the text of class %q has the squared length %g", name, length)
		}
	}
	return nil
}

// maxCount bounds ν in files.
const maxCount = 1000

// A Named holds what the trusted names of classes add in a space: examples that they stand
// for, and scores.
type Named struct {
	// Totals are those of the classes, with what names count as.
	Totals []moments.Total
	// Directions (C×d) and Offsets (C): the score of a name is offset + direction·x.
	Directions blas64.General
	Offsets    []float64
}

// On returns what the words add to classes, of which totals holds the examples, in the
// space. O(Cd²).
func (w *Words) On(sp *Space, names []string, totals []moments.Total) (*Named, error) {
	C, d := len(names), sp.Dim()
	n := &Named{Totals: slices.Clone(totals), Directions: dense.New(C, d), Offsets: make([]float64, C)}
	trusted := w.Of(func(name string) bool { return !slices.Contains(w.Doubted, name) })
	texts, centred, middle := trusted.ByName(), make([][]float64, C), make([]float64, d)
	for _, name := range slices.Sorted(maps.Keys(texts)) { // the sum must not depend on the order
		blas64.Axpy(1/float64(len(texts)), dense.Vector(widened(texts[name])), dense.Vector(middle))
	}
	for c, name := range names {
		if text, ok := texts[name]; ok {
			centred[c] = widened(text)
			blas64.Axpy(-1, dense.Vector(middle), dense.Vector(centred[c]))
			copy(dense.Row(n.Directions, c), centred[c])
		}
	}
	n.count(w.Count, sp.Origin, centred, totals)
	if err := n.guess(sp, centred, totals); err != nil {
		return nil, err
	}
	blas64.Scal(logit*w.Weight, dense.Vector(n.Directions.Data))
	blas64.Scal(logit*w.Weight, dense.Vector(n.Offsets))
	return n, nil
}

// count adds ν examples to each class with a text, at m₀ + a(t−t̄) scaled to length 1. a
// is the ratio of the spreads of means and texts, of the classes that have both.
func (n *Named) count(nu int, origin []float64, centred [][]float64, totals []moments.Total) {
	var means, texts float64
	both := 0
	for c, t := range centred {
		if t != nil && totals[c].N > 0 {
			both++
			means += dense.SquaredDistance(totals[c].Mean(), origin)
			texts += dense.SumSquares(t)
		}
	}
	if nu == 0 || both < 2 || !(texts > noSpread) {
		return
	}
	a := math.Sqrt(means / texts)
	for c, t := range centred {
		if t == nil {
			continue
		}
		e := slices.Clone(origin)
		blas64.Axpy(a, dense.Vector(t), dense.Vector(e))
		if l := blas64.Nrm2(dense.Vector(e)); l > 0 {
			blas64.Scal(float64(nu)/l, dense.Vector(e))
			n.Totals[c] = n.Totals[c].And(moments.Total{N: nu, Sum: e})
		}
	}
}

// guess gives classes without a text, but with examples, the direction b·W⁻¹(m̄−m₀), b
// being that of the regression of the texts of the others on it.
func (n *Named) guess(sp *Space, centred [][]float64, totals []moments.Total) error {
	if !slices.ContainsFunc(centred, func(t []float64) bool { return t == nil }) {
		return nil
	}
	white, err := sp.Means(totals)
	if err != nil {
		return err
	}
	directions, err := sp.Whiten.back(sp.Backend(), white)
	if err != nil {
		return err
	}
	var with, own float64
	for c, t := range centred {
		if t != nil && totals[c].N > 0 {
			with += dense.Dot(t, dense.Row(directions, c))
			own += dense.SumSquares(dense.Row(directions, c))
		}
	}
	if !(with > 0 && own > 0) {
		return nil
	}
	for c, t := range centred {
		if t == nil && totals[c].N > 0 {
			row := dense.Row(n.Directions, c)
			blas64.Axpy(with/own, dense.Vector(dense.Row(directions, c)), dense.Vector(row))
			n.Offsets[c] = -dense.Dot(row, sp.Origin)
		}
	}
	return nil
}

// Scores adds the scores of names to those of rows x of length 1 (n×≥C).
func (n *Named) Scores(scores, x blas64.General) {
	C := n.Directions.Rows
	dense.Parallel(x.Rows, func(i int) {
		row, z := dense.Row(scores, i), dense.Row(x, i)
		for c := range C {
			row[c] += n.Offsets[c] + dense.Dot(dense.Row(n.Directions, c), z)
		}
	})
}

// Nowhere is the space of a head that has seen no examples: all densities are equal in it.
func Nowhere(d int) *Space {
	return &Space{Origin: make([]float64, d), Whiten: even(d, 1), Directions: dense.New(0, d), Rest: betaAlone}
}

func widened(v []float32) []float64 {
	out := make([]float64, len(v))
	dense.Widen(out, v)
	return out
}
