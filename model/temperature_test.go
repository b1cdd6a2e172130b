package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/classifier/plda"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/onnx"
)

// sharp is a head of known means that is overconfident by exactly `factor`:
// examples are drawn with variance factor, but it assumes 1. It has no optional
// interfaces.
type sharp struct {
	classes []string
	means   map[string]moments.Total
	dim     int
	// counts counts the calls on heads of this kind.
	learned *int
}

func (h *sharp) Classes() []string { return h.classes }
func (h *sharp) Dim() int          { return h.dim }

func (h *sharp) Learn(ctx context.Context, x blas32.General, y []string) error {
	if err := errors.Join(ctx.Err(), classifier.CheckExamples(x, y, h.dim)); err != nil {
		return err
	}
	if h.learned != nil {
		*h.learned++
	}
	if h.means == nil {
		h.means = map[string]moments.Total{}
	}
	h.dim = x.Cols
	for _, g := range classifier.GroupByClass(y) {
		if _, ok := h.means[g.Class]; !ok {
			h.classes = append(h.classes, g.Class)
		}
		// The truth, not an estimate: class c000 is at 0 on the first axis.
		at := make([]float64, x.Cols)
		var position int
		fmt.Sscanf(g.Class, "c%d", &position)
		at[0] = float64(position)
		h.means[g.Class] = moments.Total{N: 1, Sum: at}
	}
	return nil
}

func (h *sharp) Score(dst blas64.General, _ []float64, x blas32.General) error {
	if err := classifier.CheckScore(h, dst, nil, x); err != nil {
		return err
	}
	for i := range x.Rows {
		row := dst.Data[i*dst.Stride : i*dst.Stride+dst.Cols]
		for c, name := range h.classes {
			row[c] = 0
			for j, v := range dense.Row32(x, i) {
				delta := float64(v) - h.means[name].Sum[j]
				row[c] -= delta * delta / 2
			}
		}
		classifier.LogSoftmax(row)
	}
	return nil
}

// line draws n examples of each of eight classes, one unit apart, with the
// given variance.
func line(n int, variance float64) (blas32.General, []string) {
	rng := rand.New(rand.NewPCG(5, uint64(n)))
	x := dense.New32(8*n, 2)
	var y []string
	for i := range x.Rows {
		for j := range 2 {
			x.Data[i*2+j] = float32(math.Sqrt(variance) * rng.NormFloat64())
		}
		x.Data[i*2] += float32(i % 8)
		y = append(y, fmt.Sprintf("c%03d", i%8))
	}
	return x, y
}

func TestFindsHowMuchTooSureAHeadIs(t *testing.T) {
	for _, variance := range []float64{0.25, 1, 9} {
		x, y := line(400, variance)
		h := learnedOn(t, temperature.Config{}, x, y, newSharp)
		f := h.Temperature
		if f == nil || math.Abs(f.T/variance-1) > 0.2 || f.After > f.Before+1e-9 {
			t.Errorf("examples of variance %g: %+v", variance, f)
		}
	}
}

func TestNeverChangesTheDecision(t *testing.T) {
	x, y := line(200, 4)
	plain, _ := newSharp()
	must.Do(t, plain.Learn(context.Background(), x, y))
	want := must.Get(classifier.Predict(plain, x, 1))(t)
	for _, T := range []float64{temperature.Auto, 1e-3, 0.5, 1, 1e4} {
		h := learnedOn(t, temperature.Config{Temperature: T}, x, y, newSharp)
		got := must.Get(classifier.Predict(h, x, 1))(t)
		for i := range got {
			if got[i].Label != want[i].Label {
				t.Fatalf("T = %g: example %d is %s, without a temperature %s", T, i, got[i].Label, want[i].Label)
			}
		}
	}
}

// almost gives two classes whose log-probabilities differ by the last bit.
type almost struct{ *sharp }

func (h almost) Score(dst blas64.General, _ []float64, x blas32.General) error {
	for i := range x.Rows {
		row := dst.Data[i*dst.Stride : i*dst.Stride+dst.Cols]
		for j := range row {
			row[j] = math.Log(1 / float64(len(row)))
		}
		row[1] = math.Nextafter(row[1], 0)
	}
	return nil
}

func TestNeverChangesTheDecisionOfALastBit(t *testing.T) {
	x, y := line(3, 1)
	h := learnedOn(t, temperature.Config{Temperature: 7}, x, y,
		func() (classifier.Learner, error) { return almost{&sharp{}}, nil })
	p, err := classifier.Predict(h, x, 1)
	if err != nil || p[0].Label != "c001" {
		t.Errorf("%+v, %v", p[0], err)
	}
}

func TestOneClassKeepsOne(t *testing.T) {
	x, y := line(3, 9)
	for i := range y {
		y[i] = "c000"
	}
	f := learnedOn(t, temperature.Config{}, x, y, newSharp).Temperature
	if f == nil || f.T != 1 || f.Fallback != "there is only one class" {
		t.Errorf("%+v", f)
	}
}

// A given temperature costs nothing if the rest of the calibration is switched
// off.
func TestGivenTemperatureIsFree(t *testing.T) {
	x, y := line(50, 4)
	n := 0
	h := behind(t, temperature.Config{Temperature: 2},
		func() (classifier.Learner, error) { return &sharp{learned: &n}, nil })
	h.uncalibrated = true
	if err := h.Learn(context.Background(), x, y); err != nil || n != 1 {
		t.Fatalf("a given temperature took %d sessions to learn one: %v", n, err)
	}
}

// A calibration by pseudo-sessions already counts on later sessions: only the T in use
// follows them.
func TestLaterSessionsKeepPseudoSessions(t *testing.T) {
	x, y := line(50, 4)
	h := learnedOn(t, temperature.Config{}, x, y, newSharp)
	before := *h.Temperature
	must.Do(t, h.Learn(context.Background(), blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{20, 0}},
		[]string{"c020"}))
	if after := *h.Temperature; after != *before.With(1.0 / 9) || before.T != before.Alone || len(h.Classes()) != 9 {
		t.Errorf("%+v became %+v", before, after)
	}
}

// Once later classes are forgotten, T is again that of base classes alone.
func TestTemperatureAfterForgetting(t *testing.T) {
	x, y := line(50, 4)
	h := learnedOn(t, temperature.Config{}, x, y,
		func() (classifier.Learner, error) { return plda.New(plda.Config{Epsilon: 0.3}) })
	before := *h.Temperature
	must.Do(t, h.Learn(context.Background(), blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{20, 0}},
		[]string{"c020"}))
	if h.Temperature.T == before.T {
		t.Errorf("T stays %g", before.T)
	}
	if err := h.Forget("c020"); err != nil || *h.Temperature != before {
		t.Errorf("%+v became %+v, %v", before, *h.Temperature, err)
	}
}

func TestFailedLearnChangesNothing(t *testing.T) {
	x, y := line(50, 4)
	h := behind(t, temperature.Config{}, newSharp)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := h.Learn(ctx, x, y); !errors.Is(err, context.Canceled) || len(h.Classes()) != 0 || h.Temperature != nil {
		t.Errorf("%v, %v", err, h.Classes())
	}
}

func newSharp() (classifier.Learner, error) { return &sharp{}, nil }

// behind returns an unfitted Predictor whose heads come from unfitted.
func behind(t *testing.T, cfg temperature.Config, unfitted func() (classifier.Learner, error)) *Predictor {
	t.Helper()
	head := must.Get(unfitted())(t)
	return &Predictor{Head: head, recipe: recipe{temperature: cfg, fresh: unfitted}}
}

func learnedOn(t *testing.T, cfg temperature.Config, x blas32.General, y []string,
	unfitted func() (classifier.Learner, error)) *Predictor {
	t.Helper()
	p := behind(t, cfg, unfitted)
	must.Do(t, p.Learn(context.Background(), x, y))
	return p
}

// A Predictor whose head has no optional interfaces refuses all of their
// methods.
func TestNoCapabilityAppears(t *testing.T) {
	x, y := line(20, 4)
	p := learnedOn(t, temperature.Config{Temperature: 2}, x, y, newSharp)
	_, save := p.Save()
	_, _, export := p.Export(onnx.NewGraph(""), "x")
	_, learn := p.momentsLearner("sharp", true)
	b := Batch{X: x, Labels: y, Content: embedding.HashRows(x)}
	m := &Model{Method: "sharp", Predictor: p, Sessions: []Session{{}}}
	for i, class := range y {
		m.Sessions[0].Samples = append(m.Sessions[0].Samples, SampleID{Content: b.Content[i], Class: class})
	}
	_, class := m.ForgetClass(context.Background(), "c000", Forgetting{Approximate: true})
	_, samples := m.ForgetSamples(context.Background(), b, Forgetting{Approximate: true})
	statistics, keep := m.saveStatistics("m", "m")
	for name, err := range map[string]error{
		"Forgetter":            p.Forget("c000"),
		"SampleForgetter":      p.ForgetSamples(x, y),
		"Varier":               p.Variance(make([]float64, x.Rows), x),
		"Saver":                save,
		"Exporter":             export,
		"moments.Learner":      learn,
		"Refresher":            m.Refresh(context.Background()),
		"Forgetter of m":       class,
		"SampleForgetter of m": samples,
	} {
		if !errors.Is(err, classifier.ErrUnsupported) {
			t.Errorf("%s appeared: %v", name, err)
		}
	}
	if statistics != nil || keep != nil {
		t.Errorf("StatisticsKeeper appeared: %v, %v", statistics, keep)
	}
	if head, err := p.unfitted(); err != nil || len(head.Classes()) > 0 {
		t.Errorf("unfitted heads: %v, %v", head, err)
	}
}

func TestOneLeavesTheHeadAlone(t *testing.T) {
	x, y := line(20, 4)
	p := learnedOn(t, temperature.Config{Temperature: 1}, x, y, newSharp)
	if p.Temperature != nil {
		t.Error("a temperature where there is none")
	}
	got, want := logProbOf(t, p, x), logProbOf(t, p.Head, x)
	if !slices.Equal(got, want) {
		t.Error("the Predictor differs from its head")
	}
}

func logProbOf(t *testing.T, h classifier.Head, x blas32.General) []float64 {
	t.Helper()
	dst := dense.New(x.Rows, len(h.Classes()))
	must.Do(t, h.Score(dst, nil, x))
	return dst.Data
}

func TestLoadRefusesForgedFits(t *testing.T) {
	empty := func(classifier.State) (classifier.Learner, error) { return newSharp() }
	full := func(classifier.State) (classifier.Learner, error) { return &sharp{classes: []string{"a"}, dim: 2}, nil }
	for name, c := range map[string]struct {
		settings string
		load     func(classifier.State) (classifier.Learner, error)
	}{
		"no fit":          {`{"temperature":0,"head":{}}`, full},
		"fit of nothing":  {`{"temperature":0,"temperature_fit":{"temperature":2},"head":{}}`, empty},
		"another":         {`{"temperature":3,"temperature_fit":{"temperature":2},"head":{}}`, full},
		"zero":            {`{"temperature":0,"temperature_fit":{"temperature":0},"head":{}}`, full},
		"negative":        {`{"temperature":-3,"temperature_fit":{"temperature":-3},"head":{}}`, full},
		"of one":          {`{"temperature":1,"temperature_fit":{"temperature":1},"head":{}}`, full},
		"no settings":     {`{"head":{}}`, full},
		"not even JSON":   {`{`, full},
		"of another type": {`{"temperature":{}}`, full},
		"no projection":   {`{"temperature":1,"dkl":{},"head":{}}`, full},
		"unasked for":     {`{"temperature":1,"projection":{},"head":{}}`, full},
	} {
		if _, err := loadPredictor(classifier.State{Settings: []byte(c.settings)}, c.load, nil); err == nil {
			t.Errorf("%s: loaded", name)
		}
	}
	good := classifier.State{Settings: []byte(
		`{"temperature":0,"temperature_fit":{"temperature":2},"calibration":{"reason":"none"},"head":{}}`)}
	if p, err := loadPredictor(good, full, nil); err != nil || p.Temperature.T != 2 {
		t.Error(err)
	}
}

func FuzzLoadTemperature(f *testing.F) {
	f.Add([]byte(`{"temperature":0,"temperature_fit":{"temperature":2},"calibration":{"reason":"none"},"head":{}}`))
	f.Add([]byte(`{"temperature":3,"head":null}`))
	f.Fuzz(func(t *testing.T, settings []byte) {
		p, err := loadPredictor(classifier.State{Settings: settings},
			func(classifier.State) (classifier.Learner, error) {
				return &sharp{classes: []string{"c000", "c001"}, means: map[string]moments.Total{"c000": {N: 1,
					Sum: []float64{0, 0}}, "c001": {N: 1, Sum: []float64{1, 0}}}, dim: 2}, nil
			}, nil)
		if err != nil {
			return
		}
		if !json.Valid(settings) {
			t.Errorf("%q was loaded", settings)
		}
		x, _ := line(1, 1)
		answers, err := classifier.Predict(p, x, 2)
		if err != nil ||
			slices.ContainsFunc(answers, func(p classifier.Prediction) bool { return math.IsNaN(p.Probability) }) {
			t.Errorf("%v %v", answers, err)
		}
	})
}
