package tokenizer_test

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/words/tokenizer"
)

// The tokenizer.json of a network, here a tiny one, turns a text into the numbers that its
// text side reads.
func Example() {
	t, err := tokenizer.Parse([]byte(`{
		"normalizer": {"type": "Lowercase"},
		"pre_tokenizer": {"type": "WhitespaceSplit"},
		"model": {"type": "BPE", "vocab": {"c": 0, "a": 1, "t": 2, "ca": 3, "cat": 4, "s": 5},
			"merges": ["c a", "ca t"]}
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(t.Encode("Cat cats", 0))
	fmt.Println(t.Encode("Cat cats", 2))
	// Output:
	// [4 4 5]
	// [4 4]
}
