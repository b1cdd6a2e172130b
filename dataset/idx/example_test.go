package idx_test

import (
	"bytes"
	"fmt"

	"github.com/seed-90d10d51/pipeline/dataset/idx"
)

func Example() {
	a, err := idx.Read(bytes.NewReader([]byte{0, 0, 8, 1, 0, 0, 0, 2, 7, 9}))
	fmt.Println(a.Shape, a.Data, err)
	// Output: [2] [7 9] <nil>
}
