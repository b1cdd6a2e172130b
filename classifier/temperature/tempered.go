package temperature

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/episodes"
	"github.com/seed-90d10d51/pipeline/internal/onnx"
)

// A Tempered is a Learner with a temperature. What the head within can do
// beside, it finds with classifier.As; scores and what is saved are tempered
// here, where the head has them.
type Tempered struct {
	cfg  Config
	head classifier.Learner
	fit  *Fit // nil before the base session
	// fresh returns what makes unfitted heads like this one, which is unfitted.
	fresh func() (func() (classifier.Learner, error), error)
}

var (
	_ classifier.Learner = (*Tempered)(nil)
	_ classifier.Wrapper = (*Tempered)(nil)
	_ classifier.Saver   = saver{}

	_ classifier.Exporter = exporter{}
)

// New returns an unfitted head as unfitted makes them, with a temperature; with
// one of 1 it is the head itself.
func New(cfg Config, unfitted func() (classifier.Learner, error)) (classifier.Learner, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	head, err := unfitted()
	if err != nil || cfg.Temperature == 1 {
		return head, err
	}
	t := &Tempered{cfg: cfg, head: head, fresh: func() (func() (classifier.Learner, error), error) { return unfitted, nil }}
	return t, nil
}

// Parts implements classifier.Wrapper.
func (t *Tempered) Parts() []any {
	var parts []any
	if s, ok := classifier.As[classifier.Saver](t.head); ok {
		parts = append(parts, saver{t, s})
	}
	if e, ok := classifier.As[classifier.Exporter](t.head); ok {
		parts = append(parts, exporter{t, e})
	}
	return parts
}

// Unwrap implements classifier.Wrapper.
func (t *Tempered) Unwrap() classifier.Head { return t.head }

// Within returns the head within one that New made, and any other as it is.
func Within(l classifier.Learner) classifier.Learner {
	if t, ok := l.(interface{ within() classifier.Learner }); ok {
		return t.within()
	}
	return l
}

func (t *Tempered) within() classifier.Learner { return t.head }

// Classes implements classifier.Head.
func (t *Tempered) Classes() []string { return t.head.Classes() }

// Dim implements classifier.Head.
func (t *Tempered) Dim() int { return t.head.Dim() }

// Fit returns the temperature and how it was found, nil before the base
// session. A head that learned its base session from statistics, which does not
// pass by here, has the one given or 1.
func (t *Tempered) Fit() *Fit {
	switch {
	case len(t.head.Classes()) == 0:
		return nil
	case t.fit != nil:
		return t.fit
	case t.cfg.Temperature != Auto:
		return &Fit{Temperature: t.cfg.Temperature}
	}
	return &Fit{Temperature: 1, Fallback: episodes.NoExamples}
}

// Of returns the temperature of a head, nil for a head without one or before
// its base session.
func Of(c classifier.Head) *Fit {
	if t, ok := classifier.As[interface{ Fit() *Fit }](c); ok {
		return t.Fit()
	}
	return nil
}

// Learn implements classifier.Learner. The base session, the first after New
// and after forgetting everything, also fits T.
func (t *Tempered) Learn(ctx context.Context, x blas32.General, y []string) error {
	if len(t.head.Classes()) > 0 {
		return t.head.Learn(ctx, x, y)
	}
	blank, err := t.fresh()
	if err != nil {
		return err
	}
	if err := t.head.Learn(ctx, x, y); err != nil {
		return err
	}
	again := blank
	if u, ok := classifier.As[episodes.Unfitter](t.head); ok {
		again = u.Unfitted
	}
	found, err := t.temperature(ctx, x, y, again)
	if err != nil {
		return fmt.Errorf("fit the temperature: %w", errors.Join(err, t.unlearn(blank)))
	}
	t.fit = found
	return nil
}

// temperature is the one given, or the one that fits heads as again makes them.
func (t *Tempered) temperature(ctx context.Context, x blas32.General, y []string, again func() (classifier.Learner, error)) (*Fit, error) {
	if t.cfg.Temperature != Auto {
		return &Fit{Temperature: t.cfg.Temperature}, nil
	}
	return fit(ctx, x, y, again)
}

// unlearn takes the base session back: a head that forgets its last class is
// unfitted. One that forgets nothing is exchanged.
func (t *Tempered) unlearn(blank func() (classifier.Learner, error)) error {
	f, ok := classifier.As[classifier.Forgetter](t.head)
	if !ok {
		head, err := blank()
		if err == nil {
			t.head = head
		}
		return err
	}
	for _, class := range slices.Clone(t.head.Classes()) {
		if err := f.Forget(class); err != nil {
			return err
		}
	}
	return nil
}

// Score implements classifier.Head; the novelty is that of the head within.
func (t *Tempered) Score(dst blas64.General, novelty []float64, x blas32.General) error {
	if err := t.head.Score(dst, novelty, x); err != nil {
		return err
	}
	t.temper(dst)
	return nil
}

// temper divides by T and normalises again.
func (t *Tempered) temper(logProb blas64.General) {
	fit := t.Fit()
	if fit == nil || fit.Temperature == 1 {
		return
	}
	for i := range logProb.Rows {
		row := logProb.Data[i*logProb.Stride : i*logProb.Stride+logProb.Cols]
		best := firstMax(row)
		for j := range row {
			row[j] /= fit.Temperature
		}
		classifier.LogSoftmax(row)
		if now := firstMax(row); now != best { // they were equal but for a last bit
			row[best] = math.Nextafter(row[now], math.Inf(1))
		}
	}
}

// firstMax is the class that wins.
func firstMax(row []float64) int {
	best := 0
	for j, v := range row {
		if v > row[best] {
			best = j
		}
	}
	return best
}

// An exporter is what tempers a classifier.Exporter.
type exporter struct {
	t    *Tempered
	head classifier.Exporter
}

// Export implements classifier.Exporter.
func (e exporter) Export(g *onnx.Graph, x string) (string, error) {
	logProb, err := e.head.Export(g, x)
	if err != nil {
		return "", err
	}
	fit := e.t.Fit()
	if fit == nil || fit.Temperature == 1 {
		return logProb, nil
	}
	return classifier.LogSoftmaxGraph(g, g.Op("Div", g.Cast(logProb, onnx.Float64), g.Scalar(fit.Temperature))), nil
}
