package classifier_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/method"
)

// A head learns classes from embeddings, one per row, and Predict names rows of the same
// length.
func Example() {
	head, err := method.New("ncm", method.DefaultConfig())
	if err != nil {
		fmt.Println(err)
		return
	}
	examples := blas32.General{Rows: 3, Cols: 2, Stride: 2, Data: []float32{1, 0.1, 1, 0.2, 0.1, 1}}
	if err := head.Learn(context.Background(), examples, []string{"cat", "cat", "dog"}); err != nil {
		fmt.Println(err)
		return
	}
	rows := blas32.General{Rows: 2, Cols: 2, Stride: 2, Data: []float32{0.2, 1, 1, 0}}
	predictions, err := classifier.Predict(head, rows, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range predictions {
		fmt.Println(p.Label)
	}
	_, forgets := head.(classifier.Forgetter)
	fmt.Println("can forget:", forgets)
	// Output:
	// dog
	// cat
	// can forget: true
}
