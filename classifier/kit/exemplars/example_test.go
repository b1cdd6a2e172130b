package exemplars_test

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/exemplars"
)

func Example() {
	x := blas32.General{Rows: 3, Cols: 2, Stride: 2, Data: []float32{1, 0, 0, 1, .8, .6}}
	table := exemplars.Table{}.With(x, classifier.GroupByClass([]string{"cat", "dog", "cat"}))
	fmt.Println(table.Classes, table.Counts(), table.X.Data)

	table, gone := table.Without(table.Of("dog"))
	fmt.Println(table.Classes, table.Counts(), "gone:", gone)
	// Output:
	// [cat dog] [2 1] [1 0 0.8 0.6 0 1]
	// [cat] [2] gone: [1]
}
