package holdout_test

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/classifier/holdout"
)

// Four photos of a class, the first two of which are nearly the same, are held out in folds
// that keep these two together.
func Example() {
	photos := [][]float32{{1, 0.1}, {1, 0.11}, {0.1, 1}, {-1, 0.5}}
	groups := holdout.Groups(photos, nil) // nil: nothing is known of when they were taken
	fmt.Println(groups)
	fmt.Println(holdout.Folds([][]int{groups}, 3, false)[0])
	// Output:
	// [0 0 1 2]
	// [0 0 1 2]
}
