package model

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
)

func TestQuantileIsNumpys(t *testing.T) {
	// numpy.quantile([1, 2, 4, 8], q)
	for q, want := range map[float64]float64{0: 1, 0.25: 1.75, 0.5: 3, 0.9: 6.8, 1: 8} {
		if got := quantile([]float64{1, 2, 4, 8}, q); math.Abs(got-want) > 1e-14 {
			t.Errorf("quantile %v = %v, want %v", q, got, want)
		}
	}
	if got := quantile([]float64{5}, 0.3); got != 5 {
		t.Errorf("of one number: %v", got)
	}
}

// Each fold holds samples out of each class that can spare them, and the order
// of the batch does not matter.
func TestFolds(t *testing.T) {
	b := batch(0, 7, 2, "ant", "bee", "cat")
	b = b.only(append([]int{0, 1, 7, 8}, 14, 15, 16, 17, 18, 19, 20)) // 2 ants, 2 bees, 7 cats
	one := batch(0, 1, 2, "dog")
	b.X.Data, b.X.Rows = append(b.X.Data, one.X.Data...), b.X.Rows+1
	b.Labels, b.Content = append(b.Labels, "dog"), append(b.Content, one.Content...)
	fold := folds(b, 3)
	if fold[len(fold)-1] != -1 {
		t.Errorf("the only dog is held out in fold %d", fold[len(fold)-1])
	}
	held := map[string]map[int]int{}
	for i, f := range fold {
		if held[b.Labels[i]] == nil {
			held[b.Labels[i]] = map[int]int{}
		}
		held[b.Labels[i]][f]++
	}
	if len(held["ant"]) != 2 || len(held["bee"]) != 2 || len(held["cat"]) != 5 {
		t.Errorf("folds %v", held)
	}
	order := []int{11, 3, 7, 0, 9, 1, 10, 4, 2, 8, 6, 5}
	for i, f := range folds(b.only(order), 3) {
		if f != fold[order[i]] {
			t.Fatal("the folds depend on the order of the samples")
		}
	}
	if slices.Equal(fold, folds(b, 4)) {
		t.Error("the folds do not depend on the seed")
	}
}

func TestThresholdHoldsOnCalibrationData(t *testing.T) {
	b := batch(0, 40, 3, "ant", "bee", "cat")
	for i := range b.X.Data {
		b.X.Data[i] += float32(i*i%17) / 16
	}
	m, _, err := train(context.Background(), newFake, b)
	if err != nil {
		t.Fatal(err)
	}
	held, err := heldOutNovelty(context.Background(), newFake, b, 7)
	if err != nil || len(held) != 120 || m.Calibration.Samples != 120 {
		t.Fatalf("%d held out, %v", len(held), err)
	}
	for _, p := range []float64{0.01, 0.05, 0.2, 0.5} {
		rejected := 0
		for _, v := range held {
			if v > threshold(t, m, p) {
				rejected++
			}
		}
		if share := float64(rejected) / 120; share > p+1.0/120 || share < p-0.1 {
			t.Errorf("p = %v rejects %v of the held-out samples", p, share)
		}
	}
	if v := threshold(t, m, 0); !math.IsInf(v, 1) {
		t.Errorf("p = 0 rejects from %v on", v)
	}
	for _, p := range []float64{-0.1, 1, math.NaN()} {
		if _, err := m.Threshold(p); err == nil {
			t.Errorf("p = %v accepted", p)
		}
	}
}

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
		"too few":    {newFake, few, "at least 20 base samples"},
		"singletons": {newFake, batch(0, 1, 3, strings.Split("abcdefghijklmnopqrstuvwxyz", "")...), "there are 0"},
		"NaN":        {broken, enough, "NaN"},
		"off":        {newFake, enough, "switched off"},
	} {
		m := faked(c.create)
		if _, err := m.train(ctx, c.b, name != "off"); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := m.Threshold(0.05); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		if name == "NaN" {
			continue
		}
		path := savedAs(t, m)
		if got := loaded(t, path).Calibration; !reflect.DeepEqual(got, m.Calibration) {
			t.Errorf("%s: loaded %+v, want %+v", name, got, m.Calibration)
		}
	}
	if _, err := (Calibration{}).Threshold(0.1, 0); err == nil {
		t.Error("the zero calibration has a threshold")
	}
}

// Samples given twice must not be held out and trained on at once.
func TestCalibrationCountsDuplicatesOnce(t *testing.T) {
	b := batch(0, 12, 3, "ant", "bee")
	double := b.only(slices.Concat(seq(24), seq(24)))
	m, o, err := train(context.Background(), newFake, double)
	if err != nil || o.Duplicates != 24 || m.Calibration.Samples != 24 {
		t.Errorf("%+v, %d, %v", o, m.Calibration.Samples, err)
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
	v, err := m.Threshold(p)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
