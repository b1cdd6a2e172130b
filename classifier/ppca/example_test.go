package ppca_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/ppca"
)

func Example() {
	head, err := ppca.New(ppca.DefaultConfig())
	if err != nil {
		fmt.Println(err)
		return
	}
	x := blas32.General{Rows: 4, Cols: 2, Stride: 2, Data: []float32{1, 0.1, 1, 0.2, 0.1, 1, 0.3, 1}}
	if err := head.Learn(context.Background(), x, []string{"flat", "flat", "steep", "steep"}); err != nil {
		fmt.Println(err)
		return
	}
	row := blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{0.2, 2}}
	predictions, err := classifier.Predict(head, row, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s %.4f\n", predictions[0].Label, predictions[0].Probability)
	// Output: steep 1.0000
}
