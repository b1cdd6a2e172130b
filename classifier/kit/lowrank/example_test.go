package lowrank_test

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/classifier/kit/lowrank"
)

func Example() {
	p := lowrank.Gaussian{Mean: []float64{0, 0}, Lambda: 1}
	q := lowrank.Gaussian{Mean: []float64{2, 0}, Values: []float64{3}, Basis: []float32{1, 0}, Lambda: 1}
	kl, err := lowrank.KL(p, q)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.4f nats\n", kl)
	// Output: 0.8181 nats
}
