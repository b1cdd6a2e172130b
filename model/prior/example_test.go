package prior_test

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/model/prior"
)

// The prior of the built-in network; model.Settings takes it.
func Example() {
	p, err := prior.Find(prior.BuiltIn)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("for embeddings of", p.Dim, "values")
	// Output: for embeddings of 304 values
}
