package model

import (
	"context"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/method"
)

// A photo that was just taught, the only one of its class, is not unknown by the
// threshold.
func TestTaughtIsKnown(t *testing.T) {
	notForRaces(t)
	for _, known := range method.Methods() {
		t.Run(known.Name, func(t *testing.T) {
			m, _ := must.Get2(Train(context.Background(), defaultSettings(known.Name),
				noisy(0, 6, strings.Fields("ant bee cat dog eel fox")...)))(t)
			taught := noisy(1, 1, "gnu", "hen")
			learn(t, m, taught)
			limit := threshold(t, m, 0.05)
			must.Do(t, classifier.ScoreBatches(m.Predictor, taught.X,
				func(_ int, logProb blas64.General, novelty []float64) error {
					for i, v := range novelty {
						if v > limit {
							t.Errorf("%s: novelty %.4g is above the threshold %.4g; %.3g", taught.Labels[i], v, limit,
								dense.Row(logProb, i))
						}
					}
					return nil
				}))
		})
	}
}
