package temperature_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/moments"
	"github.com/seed-90d10d51/pipeline/classifier/temperature"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// sharp is a head of known means that is exactly `factor` times too sure of
// itself: examples are drawn with variance factor, it believes in 1. It has no
// optional interface at all.
type sharp struct {
	classes []string
	means   map[string]moments.Total
	dim     int
	// counts are of what was asked of heads of this kind.
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

func newSharp() (classifier.Learner, error) { return &sharp{}, nil }

func learnedOn(t *testing.T, cfg temperature.Config, x blas32.General, y []string, unfitted func() (classifier.Learner, error)) classifier.Learner {
	t.Helper()
	h, err := temperature.New(cfg, unfitted)
	if err == nil {
		err = h.Learn(context.Background(), x, y)
	}
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestFindsHowMuchTooSureAHeadIs(t *testing.T) {
	for _, variance := range []float64{0.25, 1, 9} {
		x, y := line(400, variance)
		h := learnedOn(t, temperature.DefaultConfig(), x, y, newSharp)
		f := temperature.Of(h)
		if f == nil || math.Abs(f.Temperature/variance-1) > 0.2 || f.After > f.Before+1e-9 {
			t.Errorf("examples of variance %g: %+v", variance, f)
		}
	}
}

func TestNeverChangesTheDecision(t *testing.T) {
	x, y := line(200, 4)
	plain, _ := newSharp()
	if err := plain.Learn(context.Background(), x, y); err != nil {
		t.Fatal(err)
	}
	want, err := classifier.Predict(plain, x, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, T := range []float64{temperature.Auto, 1e-3, 0.5, 1, 1e4} {
		h := learnedOn(t, temperature.Config{Temperature: T}, x, y, newSharp)
		got, err := classifier.Predict(h, x, 1)
		if err != nil {
			t.Fatal(err)
		}
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
	h := learnedOn(t, temperature.Config{Temperature: 7}, x, y, func() (classifier.Learner, error) { return almost{&sharp{}}, nil })
	p, err := classifier.Predict(h, x, 1)
	if err != nil || p[0].Label != "c001" {
		t.Errorf("%+v, %v", p[0], err)
	}
}

// The head within has no optional interface: nor has the wrapper.
func TestNoCapabilityAppears(t *testing.T) {
	h, err := temperature.New(temperature.DefaultConfig(), newSharp)
	if err != nil {
		t.Fatal(err)
	}
	for name, there := range map[string]bool{
		"Forgetter":        is[classifier.Forgetter](h),
		"SampleForgetter":  is[classifier.SampleForgetter](h),
		"Saver":            is[classifier.Saver](h),
		"StatisticsKeeper": is[classifier.StatisticsKeeper](h),
		"moments.Learner":  is[moments.Learner](h),
		"Unfitter":         is[episodes.Unfitter](h),
	} {
		if there {
			t.Errorf("%s appeared", name)
		}
	}
}

func is[T any](c classifier.Head) bool {
	_, ok := classifier.As[T](c)
	return ok
}

func TestTooLittleDataKeepsOne(t *testing.T) {
	x, y := line(3, 9)
	f := temperature.Of(learnedOn(t, temperature.DefaultConfig(), x, y, newSharp))
	if f == nil || f.Temperature != 1 || !strings.Contains(f.Fallback, "pseudo-sessions need") {
		t.Errorf("%+v", f)
	}
}

func TestOneLeavesTheHeadAlone(t *testing.T) {
	h, err := temperature.New(temperature.Config{Temperature: 1}, newSharp)
	if _, ok := h.(*sharp); !ok || err != nil {
		t.Errorf("%T, %v", h, err)
	}
	if temperature.Of(h) != nil {
		t.Error("a temperature where there is none")
	}
}

func TestLaterSessionsDoNotFit(t *testing.T) {
	x, y := line(50, 4)
	n := 0
	learnedOn(t, temperature.Config{Temperature: 2}, x, y, func() (classifier.Learner, error) { return &sharp{learned: &n}, nil })
	if n != 1 {
		t.Fatalf("a given temperature took %d sessions to learn one", n)
	}
	h := learnedOn(t, temperature.DefaultConfig(), x, y, newSharp)
	before := *temperature.Of(h)
	if err := h.Learn(context.Background(), blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{20, 0}}, []string{"c020"}); err != nil {
		t.Fatal(err)
	}
	if after := *temperature.Of(h); before.Temperature != after.Temperature || len(h.Classes()) != 9 {
		t.Errorf("%+v became %+v", before, after)
	}
}

func TestFailedLearnChangesNothing(t *testing.T) {
	x, y := line(50, 4)
	h, err := temperature.New(temperature.DefaultConfig(), newSharp)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := h.Learn(ctx, x, y); !errors.Is(err, context.Canceled) || len(h.Classes()) != 0 || temperature.Of(h) != nil {
		t.Errorf("%v, %v", err, h.Classes())
	}
}

func TestValidate(t *testing.T) {
	for _, T := range []float64{-1, 1e-4, 1e5, math.NaN(), math.Inf(1)} {
		if err := (temperature.Config{Temperature: T}).Validate(); err == nil || !strings.HasPrefix(err.Error(), "temperature: ") {
			t.Errorf("%g: %v", T, err)
		}
	}
}

func TestLoadRefusesForgedFits(t *testing.T) {
	empty := func(classifier.State) (classifier.Learner, error) { return newSharp() }
	full := func(classifier.State) (classifier.Learner, error) { return &sharp{classes: []string{"a"}, dim: 2}, nil }
	for name, c := range map[string]struct {
		settings string
		load     func(classifier.State) (classifier.Learner, error)
	}{
		"no fit":          {`{"tempered":{"temperature":0},"head":{}}`, full},
		"fit of nothing":  {`{"tempered":{"temperature":0},"temperature_fit":{"temperature":2},"head":{}}`, empty},
		"another":         {`{"tempered":{"temperature":3},"temperature_fit":{"temperature":2},"head":{}}`, full},
		"zero":            {`{"tempered":{"temperature":0},"temperature_fit":{"temperature":0},"head":{}}`, full},
		"negative":        {`{"tempered":{"temperature":-3},"temperature_fit":{"temperature":-3},"head":{}}`, full},
		"not tempered":    {`{"head":{}}`, full},
		"not even JSON":   {`{`, full},
		"of another type": {`{"tempered":7}`, full},
	} {
		if _, err := temperature.Load(classifier.State{Settings: []byte(c.settings)}, c.load); err == nil {
			t.Errorf("%s: loaded", name)
		}
	}
	good := classifier.State{Settings: []byte(`{"tempered":{"temperature":0},"temperature_fit":{"temperature":2},"head":{}}`)}
	if h, err := temperature.Load(good, full); err != nil || temperature.Of(h).Temperature != 2 {
		t.Error(err)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(`{"tempered":{"temperature":0},"temperature_fit":{"temperature":2},"head":{}}`))
	f.Add([]byte(`{"tempered":{"temperature":3},"head":null}`))
	f.Fuzz(func(t *testing.T, settings []byte) {
		s := classifier.State{Settings: settings}
		h, err := temperature.Load(s, func(classifier.State) (classifier.Learner, error) {
			return &sharp{classes: []string{"c000", "c001"}, means: map[string]moments.Total{"c000": {N: 1, Sum: []float64{0, 0}}, "c001": {N: 1, Sum: []float64{1, 0}}}, dim: 2}, nil
		})
		if err != nil {
			return
		}
		if !json.Valid(settings) || !temperature.Is(s) {
			t.Errorf("%q was loaded", settings)
		}
		x, _ := line(1, 1)
		p, err := classifier.Predict(h, x, 2)
		if err != nil || slices.ContainsFunc(p, func(p classifier.Prediction) bool { return math.IsNaN(p.Probability) }) {
			t.Errorf("%v %v", p, err)
		}
	})
}
