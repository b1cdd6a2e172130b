package lowrank

import (
	"fmt"
	"math"

	"github.com/seed-90d10d51/pipeline/classifier"
)

// Fields describes the tensors of a Gaussian of dimension d with at most q
// components: "count", "components", "mean" (d) and, stacked, "values" and
// "basis" (×d, float32). λ is not included.
func (g *Gaussian) Fields(c *classifier.Codec, d, q int) {
	k := len(g.Values)
	c.Int("count", &g.N, 1, math.MaxInt32)
	c.Int("components", &k, 0, min(q, d))
	c.Float64("mean", &g.Mean, d)
	c.Rows64("values", &g.Values, k)
	c.View32("basis", &g.Basis, k, d) // no copy: a stack makes one
	if !c.Reading() {
		return
	}
	for _, v := range g.Values {
		if v <= 0 {
			c.Fail(fmt.Errorf("tensor values: %g is not a variance", v))
		}
	}
}
