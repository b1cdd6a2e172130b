package gptree_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/gptree"
)

// Two classes, then a third: the tree grows.
func Example() {
	head, err := gptree.New(gptree.DefaultConfig())
	if err != nil {
		fmt.Println(err)
		return
	}
	base := blas32.General{Rows: 4, Cols: 3, Stride: 3, Data: []float32{1, 0.1, 0, 1, 0.2, 0, 0.1, 1, 0, 0.3, 1, 0}}
	if err := head.Learn(context.Background(), base, []string{"cat", "cat", "dog", "dog"}); err != nil {
		fmt.Println(err)
		return
	}
	later := blas32.General{Rows: 1, Cols: 3, Stride: 3, Data: []float32{0.1, 0.1, 1}}
	if err := head.Learn(context.Background(), later, []string{"newt"}); err != nil {
		fmt.Println(err)
		return
	}
	rows := blas32.General{Rows: 1, Cols: 3, Stride: 3, Data: []float32{0.2, 0, 1}}
	predictions, err := classifier.Predict(head, rows, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(head.Classes(), predictions[0].Label)
	// Output: [cat dog newt] newt
}

func ExampleKMeans() {
	means := blas64.General{Rows: 4, Cols: 2, Stride: 2, Data: []float64{
		9, 1, // cat
		1, 9, // truck
		9, 2, // dog
		2, 9, // car
	}}
	tree, err := gptree.KMeans(context.Background(), means, gptree.DefaultKMeansConfig())
	if err != nil {
		fmt.Println(err)
		return
	}
	text, _ := json.Marshal(tree)
	fmt.Println(string(text))
	// Output:
	// [-1,-1,0,2,-1,1,3]
}

func ExampleTree_LogProb() {
	tree, _ := gptree.StickBreaking(3)
	logOdds := blas64.General{Rows: 1, Cols: 2, Stride: 2, Data: []float64{0, math.Log(0.9 / 0.1)}}
	logProb := blas64.General{Rows: 1, Cols: 3, Stride: 3, Data: make([]float64, 3)}
	if err := tree.LogProb(logProb, logOdds); err != nil {
		fmt.Println(err)
		return
	}
	for class, l := range logProb.Data {
		fmt.Printf("%d %.2f\n", class, math.Exp(l))
	}
	// Output:
	// 0 0.50
	// 1 0.45
	// 2 0.05
}

func ExampleJoin() {
	base, _ := gptree.StickBreaking(2)
	novel, _ := gptree.RandomBalanced(2, 1)
	grown, _ := gptree.Join(base, novel)
	text, _ := json.Marshal(grown)
	fmt.Println(string(text))
	path, _ := grown.Path(3)
	fmt.Println(path)
	// Output:
	// [-1,-1,0,1,-1,2,3]
	// [{0 false} {2 false}]
}
