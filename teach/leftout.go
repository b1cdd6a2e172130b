package teach

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/labelnoise"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/label/rank"
	"github.com/seed-90d10d51/pipeline/model"
)

// A leftOut is the accuracy of a model on its own examples, each scored by a model
// that did not learn it.
type leftOut struct {
	n, correct int
	// belief has what is said of the class of each photo, and first the most probable
	// class.
	belief map[ID]rank.Belief
	first  map[ID]string
	// noise is what the labels tell of how many are wrong, and wrong how probably each is.
	noise labelnoise.Noise
	wrong map[ID]float64
}

// leftOutWork bounds how many examples are left out: those for which d² operations
// each come to this.
const leftOutWork = 1e10

// leaveOut scores every example without it, with the shared parameters of all. The
// only example of a class is not scored; of very many examples an even selection
// is. The head ends as it was up to rounding.
func (l *live) leaveOut(ctx context.Context, row func(ID) []float32) (leftOut, error) {
	out := leftOut{belief: map[ID]rank.Belief{}, first: map[ID]string{}, wrong: map[ID]float64{}}
	var labels labelnoise.Labels
	var ids []ID
	classes, size := l.Classes(), map[string]int{}
	for _, s := range l.have {
		size[s.Class]++
	}
	w, b, err := l.linear.Weights(dense.Range(0, len(classes)))
	if err != nil {
		return out, err
	}
	most := max(500, int(leftOutWork/float64(l.Dim()*l.Dim())))
	step := (len(l.have) + most - 1) / most
	for i := 0; i < len(l.have); i += step {
		s := l.have[i]
		x := row(ID(s.Content))
		if err := ctx.Err(); err != nil {
			return out, err
		}
		if x == nil || size[s.Class] < 2 {
			continue
		}
		one := model.Batch{X: blas32.General{Rows: 1, Cols: len(x), Stride: len(x), Data: x}, Labels: []string{s.Class}}
		phi, err := l.Predictor.Features(one.X)
		if err != nil {
			return out, err
		}
		logProb := make([]float64, len(classes))
		for c := range logProb {
			logProb[c] = b[c] + dense.Dot(dense.Row(w, c), dense.Row(phi, 0))
		}
		own := slices.Index(classes, s.Class)
		if logProb[own], err = l.without(ctx, one, own, dense.Row(phi, 0)); err != nil {
			return out, fmt.Errorf("left-out accuracy: %w", err)
		}
		for c := range logProb {
			logProb[c] /= l.temperature()
		}
		classifier.LogSoftmax(logProb)
		labels.Add(logProb, own)
		ids = append(ids, ID(s.Content))
		out.add(s, classifier.FromLogProb(classes, logProb, 1).Label, rank.Believed(logProb, own))
	}
	out.noise = labels.Fit()
	for i, id := range ids {
		out.wrong[id] = labels.Wrong(out.noise, i)
	}
	return out, nil
}

// add adds what is said of an example.
func (l *leftOut) add(s model.SampleID, first string, belief rank.Belief) {
	l.belief[ID(s.Content)], l.first[ID(s.Content)] = belief, first
	l.n++
	if first == s.Class {
		l.correct++
	}
}

// without returns the score of an example, with features phi, for its class without
// it.
func (l *live) without(ctx context.Context, one model.Batch, column int, phi []float64) (float64, error) {
	if err := l.Amend(ctx, one, model.Batch{}); err != nil {
		return 0, err
	}
	w, b, err := l.linear.Weights([]int{column})
	if err != nil {
		return 0, err
	}
	return b[0] + dense.Dot(dense.Row(w, 0), phi), l.Amend(ctx, model.Batch{}, one)
}
