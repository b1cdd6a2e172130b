package polyagamma_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/seed-90d10d51/pipeline/gp/polyagamma"
)

func Example() {
	rng := rand.New(rand.NewPCG(1, 2))
	var sum float64
	for range 100_000 {
		sum += polyagamma.Draw(rng, 2)
	}
	fmt.Printf("%.3f, exactly %.3f\n", sum/100_000, polyagamma.Mean(1, 2))
	// Output: 0.190, exactly 0.190
}
