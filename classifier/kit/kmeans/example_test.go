package kmeans_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier/kit/kmeans"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// Rows that lie together get the same number.
func Example() {
	x := blas32.General{Rows: 4, Cols: 2, Stride: 2, Data: []float32{0, 0, 9, 9, 0, 1, 9, 8}}
	c := kmeans.Config{Clusters: 2, Candidates: 1, Rounds: 10}
	of, err := kmeans.Cluster(context.Background(), linalg.Backend{}, x, c, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(of[0] == of[2], of[1] == of[3], of[0] == of[1])
	// Output: true true false
}
