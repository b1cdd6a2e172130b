package advice_test

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/model/advice"
)

// A new class whose name looks mistaken.
func Example() {
	fmt.Println(advice.Misspelt([]string{"giraffe", "zebra", "girafe"}, []string{"girafe"}))
	// Output:
	// ["girafe" beside "giraffe"]
}
