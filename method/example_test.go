package method_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/ncm"
	"github.com/seed-90d10d51/pipeline/method"
)

func Example() {
	settings := method.Change(method.DefaultConfig(), "ncm", func(c *ncm.Config) { c.Metric = ncm.Euclidean })
	head, err := method.New("ncm", settings)
	if err != nil {
		fmt.Println(err)
		return
	}
	x := blas32.General{Rows: 2, Cols: 2, Stride: 2, Data: []float32{1, 0, 0, 1}}
	if err := head.Learn(context.Background(), x, []string{"cat", "dog"}); err != nil {
		fmt.Println(err)
		return
	}
	row := blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{0.2, 0.9}}
	predictions, err := classifier.Predict(head, row, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(predictions[0].Label)
	// Output: dog
}
