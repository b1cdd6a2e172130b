package random_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/random"
)

func TestStreamsAreRepeatable(t *testing.T) {
	a, b := random.Stream(3, "test", 1, 2), random.Stream(3, "test", 1, 2)
	for range 100 {
		if a.Uint64() != b.Uint64() {
			t.Fatal("the same stream gave other numbers")
		}
	}
}

// TestStreamsDiffer: no two of many similar streams begin with the same
// numbers, and neighbouring streams are uncorrelated.
func TestStreamsDiffer(t *testing.T) {
	seen := map[uint64]string{}
	for seed := range uint64(20) {
		for _, purpose := range []string{"", "a", "b", "a1", "gptree kmeans", "gptree kmean"} {
			for _, index := range [][]int{nil, {0}, {1}, {-1}, {0, 0}, {0, 1}, {1, 0}, {256}, {math.MaxInt}} {
				name := fmt.Sprint(seed, purpose, index)
				first := random.Stream(seed, purpose, index...).Uint64()
				if other, ok := seen[first]; ok {
					t.Errorf("%s and %s begin with the same number", name, other)
				}
				seen[first] = name
			}
		}
	}
}

func TestNeighboursAreUncorrelated(t *testing.T) {
	const n = 4000
	for name, other := range map[string]func(i int) float64{
		"seed":  func(i int) float64 { return random.Stream(uint64(i)+1, "x", 5).NormFloat64() },
		"index": func(i int) float64 { return random.Stream(uint64(i), "x", 6).NormFloat64() },
		"name":  func(i int) float64 { return random.Stream(uint64(i), "y", 5).NormFloat64() },
	} {
		var sum float64
		for i := range n {
			sum += random.Stream(uint64(i), "x", 5).NormFloat64() * other(i)
		}
		if r := sum / n; math.Abs(r) > 4/math.Sqrt(n) {
			t.Errorf("another %s: correlation %.3f", name, r)
		}
	}
}

func ExampleStream() {
	fmt.Println(random.Stream(1, "docs", 0).IntN(1000), random.Stream(1, "docs", 1).IntN(1000))
	// Output: 310 664
}
