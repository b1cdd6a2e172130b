package episodes_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/ncm"
)

// Which metric names classes of a few images best? Pseudo-sessions inside a base session of
// ten classes tell.
func Example() {
	rng := rand.New(rand.NewPCG(1, 1))
	x, y := blas32.General{Rows: 300, Cols: 8, Stride: 8}, []string(nil)
	for i := range x.Rows {
		class, length := i%10, math.Exp(rng.NormFloat64()) // which says nothing about the class
		for j := range x.Cols {
			direction := math.Sin(float64(1 + class + 7*j*class))
			x.Data = append(x.Data, float32(length*(direction+0.1*rng.NormFloat64())))
		}
		y = append(y, fmt.Sprint("class ", class))
	}
	choice, err := episodes.Choose(context.Background(), x, y, episodes.DefaultConfig(),
		[]string{ncm.Euclidean, ncm.Cosine}, learn)
	fmt.Println(choice.Value, err)
	// Output: cosine <nil>
}

// learn returns what fits a candidate to the base session of an episode.
func learn(ctx context.Context, x blas32.General, y []string) (func(string) (classifier.Learner, error), error) {
	return func(metric string) (classifier.Learner, error) {
		head, err := ncm.New(ncm.Config{Metric: metric, Temperature: 1})
		if err != nil {
			return nil, err
		}
		return head, head.Learn(ctx, x, y)
	}, nil
}
