package model

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func TestNoCalibrationSaysWhy(t *testing.T) {
	ctx := context.Background()
	broken := func() (classifier.Learner, error) {
		f, err := newFake()
		return brokenNovelty{f.(*fake)}, err
	}
	few := batch(0, 2, 3, "ant", "bee")
	enough := batch(0, 12, 3, "ant", "bee")
	for name, c := range map[string]struct {
		create func() (classifier.Learner, error)
		b      Batch
		says   string
	}{
		"too few":    {newFake, few, "at least 20 images"},
		"singletons": {newFake, batch(0, 1, 3, strings.Split("abcdefghijklmnopqrstuvwxyz", "")...), "a single image"},
		"one class":  {newFake, batch(0, 30, 3, "ant"), "only one class"},
		"NaN":        {broken, enough, "NaN"},
		"off":        {newFake, enough, "switched off"},
	} {
		m := faked(c.create)
		m.Predictor.uncalibrated = name == "off"
		if _, err := m.Learn(ctx, c.b); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := m.Threshold(0.05); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		if name == "NaN" {
			continue
		}
		path := savedAs(t, m)
		if got := loaded(t, path).Predictor.Calibration; !reflect.DeepEqual(got, m.Predictor.Calibration) {
			t.Errorf("%s: loaded %+v, want %+v", name, got, m.Predictor.Calibration)
		}
	}
	if _, err := (calibration.Calibration{}).Threshold(0.1, 0); err == nil {
		t.Error("the zero calibration has a threshold")
	}
}

// Samples given twice must not be held out and trained on at once.
func TestCalibrationCountsDuplicatesOnce(t *testing.T) {
	b := batch(0, 12, 3, "ant", "bee")
	double := b.only(slices.Concat(seq(24), seq(24)))
	m, o, err := train(context.Background(), newFake, double)
	if err != nil || o.Duplicates != 24 || m.Predictor.Calibration.Samples != 24 {
		t.Errorf("%+v, %d, %v", o, m.Predictor.Calibration.Samples, err)
	}
}

func seq(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

type cancelling struct {
	*fake
	cancel func()
}

func (c cancelling) Learn(ctx context.Context, x blas32.General, y []string) error {
	c.cancel()
	return c.fake.Learn(ctx, x, y)
}

func TestCalibrationStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	create := func() (classifier.Learner, error) {
		f, err := newFake()
		return cancelling{f.(*fake), cancel}, err
	}
	if _, _, err := train(ctx, create, batch(0, 12, 3, "ant", "bee")); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func threshold(t *testing.T, m *Model, p float64) float64 {
	t.Helper()
	return must.Get(m.Threshold(p))(t)
}
