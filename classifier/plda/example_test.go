package plda_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/plda"
)

func Example() {
	head, err := plda.New(plda.DefaultConfig())
	if err != nil {
		fmt.Println(err)
		return
	}
	base := blas32.General{Rows: 4, Cols: 3, Stride: 3, Data: []float32{1, 0.1, 0, 1, 0.2, 0, 0.1, 1, 0, 0.3, 1, 0}}
	if err := head.Learn(context.Background(), base, []string{"cat", "cat", "dog", "dog"}); err != nil {
		fmt.Println(err)
		return
	}
	one := blas32.General{Rows: 1, Cols: 3, Stride: 3, Data: []float32{0.1, 0.1, 1}}
	if err := head.Learn(context.Background(), one, []string{"newt"}); err != nil {
		fmt.Println(err)
		return
	}
	row := blas32.General{Rows: 1, Cols: 3, Stride: 3, Data: []float32{0.2, 0, 1}}
	predictions, err := classifier.Predict(head, row, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(head.Classes(), predictions[0].Label)
	// Output: [cat dog newt] newt
}
