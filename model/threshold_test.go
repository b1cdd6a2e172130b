package model

import (
	"context"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/method"
)

// calibrated returns a model whose base session is large enough for episodes.
func calibrated(t *testing.T) *Model {
	t.Helper()
	m, _ := must.Get2(Train(context.Background(), settings("ppca"), noisy(0, 40, strings.Fields("ant bee cat dog eel "+
		"fox")...)))(t)
	return m
}

func TestFewShotClassesAreCalibratedToo(t *testing.T) {
	m := calibrated(t)
	c := m.Predictor.Calibration
	// Of six classes two have 5 of their 40 samples, and 20 held out; four have 32. In five
	// trials some are held out several times.
	if c.Samples < 4*8+2*20 || c.Samples > 6*40 || c.Shots != 5 || len(c.Few) != len(c.Quantiles) {
		t.Errorf("%d samples, %d shots, %d quantiles: %s", c.Samples, c.Shots, len(c.Few), c.Reason)
	}
	base := threshold(t, m, 0.1)
	if want := c.Quantiles[900]; base != want {
		t.Errorf("without few-shot classes the threshold is %v, want %v", base, want)
	}
	learn(t, m, noisy(1, 5, "gnu", "hen"))
	want, err := c.Threshold(0.1, 0.25)
	if got := threshold(t, m, 0.1); got != want || err != nil {
		t.Errorf("with 2 of 8 classes of 5 samples %v, want %v", got, want)
	}
	if back := mustLoad(t, savedAs(t, m)); !reflect.DeepEqual(back.Predictor.Calibration, c) {
		t.Error("saving and loading changed the calibration")
	}
}

// The temperature changes no novelty, so it must change no threshold.
func TestTemperatureDoesNotMoveTheThreshold(t *testing.T) {
	s := settings("plda")
	b := noisy(0, 40, strings.Fields("ant bee cat dog eel")...)
	var seen []calibration.Calibration
	for _, T := range []float64{0, 1, 3} {
		s.Temperature.Temperature = T
		m, _ := must.Get2(Train(context.Background(), s, b))(t)
		seen = append(seen, m.Predictor.Calibration)
	}
	if !reflect.DeepEqual(seen[0], seen[1]) || !reflect.DeepEqual(seen[0], seen[2]) {
		t.Error("the calibrations differ")
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
	if want := between(10, 5, 40) / 7; math.Abs(m.fewShare()-want) > 1e-12 {
		t.Errorf("a seventh class of 10 samples counts %v, want %v", m.fewShare(), want)
	}
	for _, name := range strings.Fields("ant bee cat dog eel fox") {
		must.Get(m.ForgetClass(context.Background(), name, Forgetting{Approximate: true}))(t)
	}
	if m.fewShare() != 1 {
		t.Errorf("without base classes %v", m.fewShare())
	}
}

// Every method gets a threshold for few-shot classes.
func TestEveryMethodIsCalibrated(t *testing.T) {
	notForRaces(t)
	for _, method := range method.Methods() {
		m, _, err := Train(context.Background(), settings(method.Name),
			noisy(0, 24, strings.Fields("ant bee cat dog eel")...))
		if err != nil || len(m.Predictor.Calibration.Few) == 0 {
			t.Errorf("%s: %v, %s", method.Name, err, m.Predictor.Calibration.Reason)
		}
	}
}
