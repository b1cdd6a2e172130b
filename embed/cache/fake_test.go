package cache

import "fmt"

const fakeDim = 5

func contentOf(i int) string { return fmt.Sprintf("IMG %d", i) }

// expected is a known function of a file's content.
func expected(content string) []float32 {
	h := HashOf([]byte(content))
	v := make([]float32, fakeDim)
	for j := range v {
		v[j] = 2*float32(h[j]) + 1
	}
	return v
}
