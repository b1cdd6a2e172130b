package classtable_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/classtable"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
)

// A classifier of one's own: a class is its mean, and a row scores −‖x−mean‖².
func Example() {
	type means = classtable.Model[struct{}, moments.Total]
	head := classtable.NewExact(classtable.Method[struct{}, moments.Total]{
		Name: "nearest",
		Fit: func(_ *means, old moments.Total, change classtable.Change) (moments.Total, error) {
			return change.Total(old)
		},
		Rescore: func(*means, []int) error { return nil },
		Scoring: func(m *means) classifier.Scoring {
			return classifier.Scoring{Scores: func(x blas32.General) (blas64.General, error) {
				n := m.Classes.Len()
				out := blas64.General{Rows: x.Rows, Cols: n, Stride: n, Data: make([]float64, x.Rows*n)}
				for i := range x.Rows {
					for c, class := range m.Classes.Values() {
						for j, mean := range class.Mean() {
							off := float64(x.Data[i*x.Stride+j]) - mean
							out.Data[i*n+c] -= off * off
						}
					}
				}
				return out, nil
			}}
		},
		Count:  func(t moments.Total) int { return t.N },
		Fields: func(c *classifier.Codec, m *means, t *moments.Total) { t.Fields(c, m.Dim) },
	})

	x := blas32.General{Rows: 3, Cols: 2, Stride: 2, Data: []float32{1, 0, 0, 1, .8, .6}}
	if err := head.Learn(context.Background(), x, []string{"cat", "dog", "newt"}); err != nil {
		fmt.Println(err)
		return
	}
	row := blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{.8, .5}}
	for _, forgotten := range []string{"", "newt"} {
		if forgotten != "" {
			if err := head.Forget(forgotten); err != nil {
				fmt.Println(err)
				return
			}
		}
		predictions, err := classifier.Predict(&head, row, 1)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(head.Classes(), predictions[0].Label)
	}
	// Output:
	// [cat dog newt] newt
	// [cat dog] cat
}
