package prior_test

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/model/prior"
)

// A prior of one of the project's own networks; model.Settings takes it.
func Example() {
	p, err := prior.Load("../../models/resnet18.prior")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("for embeddings of", p.Dim, "values")
	// Output: for embeddings of 512 values
}
