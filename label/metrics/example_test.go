package metrics_test

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/label/metrics"
)

func Example() {
	classes := []string{"cat", "dog"}
	truth := []string{"cat", "dog", "dog", "horse"} // a horse is new to the model
	logProb := blas64.General{Rows: 4, Cols: 2, Stride: 2, Data: []float64{
		math.Log(0.9), math.Log(0.1),
		math.Log(0.2), math.Log(0.8),
		math.Log(0.6), math.Log(0.4),
		math.Log(0.5), math.Log(0.5),
	}}
	r, err := metrics.Evaluate(classes, truth, logProb, []float64{0.1, 0.3, 0.2, 0.7})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("accuracy %.2f of %d, balanced %.2f, AUROC %.0f\n", r.Accuracy, r.N, r.BalancedAccuracy, *r.NoveltyAUROC)
	// Output: accuracy 0.67 of 3, balanced 0.75, AUROC 1
}
