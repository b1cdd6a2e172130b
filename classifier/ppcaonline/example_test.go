package ppcaonline_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/ppcaonline"
)

func Example() {
	head, err := ppcaonline.New(ppcaonline.DefaultConfig())
	if err != nil {
		fmt.Println(err)
		return
	}
	base := blas32.General{Rows: 4, Cols: 3, Stride: 3, Data: []float32{1, 0.1, 0, 1, 0.2, 0, 0.1, 1, 0, 0.3, 1, 0}}
	if err := head.Learn(context.Background(), base, []string{"cat", "cat", "dog", "dog"}); err != nil {
		fmt.Println(err)
		return
	}
	more := blas32.General{Rows: 1, Cols: 3, Stride: 3, Data: []float32{1, 0.3, 0.1}} // of an old class
	if err := head.Learn(context.Background(), more, []string{"cat"}); err != nil {
		fmt.Println(err)
		return
	}
	predictions, err := classifier.Predict(head, more, 1)
	fmt.Println(head.Classes(), predictions[0].Label, err)
	// Output: [cat dog] cat <nil>
}
