package quadrature_test

import (
	"fmt"
	"math"

	"github.com/seed-90d10d51/pipeline/gp/quadrature"
)

func Example() {
	for _, variance := range []float64{0, 4} {
		yes, no := quadrature.LogSigmoids(2, variance)
		fmt.Printf("%.4f %.4f\n", math.Exp(yes), math.Exp(no))
	}
	// Output:
	// 0.8808 0.1192
	// 0.7752 0.2248
}
