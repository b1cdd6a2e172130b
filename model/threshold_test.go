package model

import (
	"context"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/method"
)

// calibrated returns a model whose base session is large enough for episodes.
func calibrated(t *testing.T) *Model {
	t.Helper()
	m, _, err := Train(context.Background(), settings("ppca"), noisy(0, 20, strings.Fields("ant bee cat dog eel fox")...))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestFewShotClassesAreCalibratedToo(t *testing.T) {
	m := calibrated(t)
	c := m.Calibration
	// Of six classes two have 5 of their 20 samples, and 15 held out; four have 16.
	if c.Samples != 5*(4*4+2*15) || c.Shots != 5 || len(c.Few) != len(c.Quantiles) {
		t.Errorf("%d samples, %d shots, %d quantiles: %s", c.Samples, c.Shots, len(c.Few), c.Reason)
	}
	base := threshold(t, m, 0.1)
	if want := quantile(c.Quantiles, 0.9); base != want {
		t.Errorf("without few-shot classes the threshold is %v, want %v", base, want)
	}
	learn(t, m, noisy(1, 5, "gnu", "hen"))
	if got, want := threshold(t, m, 0.1), c.mixed(0.1, 0.25); got != want {
		t.Errorf("with 2 of 8 classes of 5 samples %v, want %v", got, want)
	}
	if back := mustLoad(t, savedAs(t, m)); !reflect.DeepEqual(back.Calibration, c) {
		t.Error("saving and loading changed the calibration")
	}
}

// The temperature changes no novelty, so it must change no threshold.
func TestTemperatureDoesNotMoveTheThreshold(t *testing.T) {
	s := settings("plda")
	b := noisy(0, 20, strings.Fields("ant bee cat dog eel")...)
	var seen []Calibration
	for _, T := range []float64{0, 1, 3} {
		s.Temperature.Temperature = T
		m, _, err := Train(context.Background(), s, b)
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, m.Calibration)
	}
	if !reflect.DeepEqual(seen[0], seen[1]) || !reflect.DeepEqual(seen[0], seen[2]) {
		t.Error("the calibrations differ")
	}
}

// In a mixture the threshold leaves the requested share above it.
func TestMixedThreshold(t *testing.T) {
	c := Calibration{Quantiles: ramp(0, 1), Few: ramp(2, 6), Shots: 5}
	for _, few := range []float64{0.01, 0.25, 0.5, 1} {
		last := math.Inf(1)
		for _, p := range []float64{0.001, 0.01, 0.05, 0.3, 0.7} {
			v, err := c.Threshold(p, few)
			if err != nil {
				t.Fatal(err)
			}
			share := (1-few)*above(c.Quantiles, v) + few*above(c.Few, v)
			if math.Abs(share-p) > 1e-9 && !(few == p) || v > last {
				t.Errorf("few %v, p %v: threshold %v leaves %v above", few, p, v, share)
			}
			last = v
		}
	}
}

// ramp is uniform between two values.
func ramp(from, to float64) []float64 {
	q := make([]float64, calibrationQuantiles)
	for i := range q {
		q[i] = from + (to-from)*float64(i)/float64(len(q)-1)
	}
	return q
}

func TestAboveIsQuantileBackwards(t *testing.T) {
	q := ramp(-3, 5)
	for _, p := range []float64{0.1234, 0.5, 0.999} {
		if got := above(q, quantile(q, 1-p)); math.Abs(got-p) > 1e-12 {
			t.Errorf("%v: %v", p, got)
		}
	}
	if above(q, -4) != 1 || above(q, 6) != 0 {
		t.Error("outside the range")
	}
	same := ramp(2, 2)
	if above(same, 2) != 1 || above(same, 2.5) != 0 {
		t.Error("of equal values")
	}
	if v, err := (Calibration{Quantiles: same, Few: same, Shots: 5}).Threshold(0.3, 0.5); v < 2 || v > math.Nextafter(2, 3) || err != nil {
		t.Errorf("%v, %v", v, err)
	}
}

func TestShareOfFewShotClasses(t *testing.T) {
	for _, c := range []struct{ n, few, many, want float64 }{
		{1, 5, 80, 1}, {5, 5, 80, 1}, {20, 5, 80, 0.5}, {80, 5, 80, 0}, {500, 5, 80, 0}, {5, 5, 5, 1}, {6, 5, 5, 0},
	} {
		if got := between(c.n, c.few, c.many); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v samples between %v and %v: %v, want %v", c.n, c.few, c.many, got, c.want)
		}
	}
	m := calibrated(t)
	learn(t, m, noisy(1, 10, "gnu"))
	if want := 0.5 / 7; math.Abs(m.fewShare()-want) > 1e-12 {
		t.Errorf("a seventh class of 10 samples counts %v, want %v", m.fewShare(), want)
	}
	for _, name := range strings.Fields("ant bee cat dog eel fox") {
		if err := m.ForgetClass(name); err != nil {
			t.Fatal(err)
		}
	}
	if m.fewShare() != 1 {
		t.Errorf("without base classes %v", m.fewShare())
	}
}

// Every method gets a threshold for few-shot classes.
func TestEveryMethodIsCalibrated(t *testing.T) {
	for _, method := range method.Methods() {
		m, _, err := Train(context.Background(), settings(method.Name), noisy(0, 12, strings.Fields("ant bee cat dog eel")...))
		if err != nil || len(m.Calibration.Few) == 0 {
			t.Errorf("%s: %v, %s", method.Name, err, m.Calibration.Reason)
		}
	}
}
