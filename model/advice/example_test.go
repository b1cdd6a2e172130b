package advice_test

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/model/advice"
)

// A new class whose name looks mistaken, and a session of teaching with many strangers.
func Example() {
	fmt.Println(advice.Misspelt([]string{"giraffe", "zebra", "girafe"}, []string{"girafe"}))
	step := advice.Teaching{Read: 100, Fitted: true, Open: 20, Unknown: 12, Recent: 1}.Next()
	fmt.Println(step.Do, step.Text)
	// Output:
	// ["girafe" beside "giraffe"]
	// unknown 12 photos are like no class: name a group of them.
}
