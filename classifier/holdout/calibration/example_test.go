package calibration_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/ncm"
)

// Two classes that overlap: examples that are left out tell how often the head is right.
func Example() {
	rng := rand.New(rand.NewPCG(1, 1))
	learned := episodes.Episode{X: blas32.General{Rows: 40, Cols: 2, Stride: 2}}
	for i := range learned.X.Rows {
		x, y := rng.NormFloat64(), rng.NormFloat64()
		learned.X.Data = append(learned.X.Data, float32(x+2*float64(i%2)), float32(y))
		learned.Y = append(learned.Y, []string{"left", "right"}[i%2])
	}
	cfg := ncm.Config{Metric: ncm.Euclidean, Temperature: 1}
	t, held, err := calibration.Fit(context.Background(), calibration.Task{
		Sessions: []episodes.Episode{learned},
		Fresh:    func() (classifier.Learner, error) { return ncm.New(cfg) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.0f %% of %d held-out examples are right\n", 100*held.Accuracy, held.Samples)
	fmt.Printf("temperature %.1f\n", t.T)
	threshold, err := held.Threshold(0.05, 0) // which one in twenty examples of known classes exceed
	fmt.Println(threshold > 0, err)
	// Output:
	// 85 % of 40 held-out examples are right
	// temperature 0.9
	// true <nil>
}
