package account_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/model/account"
)

// learned returns a model of classes with the given numbers of images, and what was
// found by holding some out.
func learned(t *testing.T, found calibration.Calibration, sizes ...int) *model.Model {
	t.Helper()
	b := model.Batch{X: blas32.General{Cols: len(sizes), Stride: len(sizes)}}
	for k, n := range sizes {
		for i := range n {
			row := make([]float32, len(sizes))
			row[k], row[(k+1)%len(sizes)] = 1, float32(i)/10
			b.X.Data = append(b.X.Data, row...)
			b.Labels = append(b.Labels, string(rune('a'+k)))
			b.Paths = append(b.Paths, fmt.Sprintf("%d/%d", k, i))
			b.Content = append(b.Content, model.Hash(embedding.HashRow(row)))
		}
	}
	b.X.Rows = len(b.Labels)
	m, _ := must.Get2(model.Train(context.Background(), model.Settings{
		Method: "ncm", Heads: method.DefaultConfig(), Temperature: temperature.Config{Temperature: 1},
	}, b))(t)
	m.Predictor.Calibration = found
	return m
}

// TestExpected: an estimate from few images is called rough, and an error of calibration
// is shown only where there are many.
func TestExpected(t *testing.T) {
	known := calibration.Calibration{Source: calibration.LeftOut, Samples: 200, Accuracy: 0.876}
	few, bursts, all, most := known, known, known, known
	few.Samples, bursts.Elsewhere, most.Samples, most.Accuracy = 20, 0.613, 1000, 0.996
	all.Samples, all.Accuracy = 20, 1
	for _, c := range []struct {
		name  string
		found calibration.Calibration
		size  int
		want  []string
	}{
		{"many", known, 3, []string{
			"expect about 88 % of photos like these to be named correctly, between 76 and 99 % " +
				"(from 200 left-out images); guessing names " +
				"50 %",
			"probabilities are off by 4 points on average (ECE 0.042)",
		}},
		{"two of each", known, 2, []string{
			"expect about 88 % of photos like these to be named correctly, between 76 and 99 % " +
				"(from 200 left-out images, a rough " +
				"estimate); guessing names 50 %",
			"probabilities are off by 4 points on average (ECE 0.042)",
		}},
		{"few", few, 3, []string{
			"expect about 88 % of photos like these to be named correctly, between 65 and 100 % " +
				"(from 20 left-out images, a rough " +
				"estimate); guessing names 50 %",
		}},
		{"all of few", all, 3, []string{
			"expect 83 % or more of photos like these to be named correctly, between 80 and 100 % " +
				"(from 20 left-out images, none named " +
				"wrongly, a rough estimate); guessing names 50 %",
		}},
		{"most of many", most, 3, []string{
			"expect 98 % or more of photos like these to be named correctly, between 89 and 100 % " +
				"(from 1000 left-out images); guessing " +
				"names 50 %",
			"probabilities are off by 4 points on average (ECE 0.042)",
		}},
		{"bursts", bursts, 3, []string{
			"expect about 88 % of photos like these to be named correctly, between 76 and 99 % " +
				"(from 200 left-out images); guessing names " +
				"50 %",
			"many of the photos are alike, such as those of a burst: of photos of another occasion expect about 61 " +
				"%, or less; probabilities are for these",
			"probabilities are off by 4 points on average (ECE 0.042)",
		}},
		{"nothing", calibration.Calibration{Novelty: calibration.Novelty{Reason: "no image"}}, 3, []string{
			"not calibrated: no image",
		}},
	} {
		m := learned(t, c.found, c.size, c.size)
		m.Predictor.Temperature = &temperature.Value{T: 1, ECE: 0.042}
		if got := account.Trained(m); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}
