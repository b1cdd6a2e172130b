package command

import (
	"math"
	"strings"
	"testing"
)

// TestVerdict: a network to which all pictures are the same does not look right.
func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		same, other float64
		want        string
	}{
		{0.93, 0.41, "looks right"}, {0.999, 0.98, "looks right"},
		{1, 0.9999, "hardly tells"}, {0.9999, 0.996, "hardly tells"},
		{1, 1, "looks wrong"}, {0.4, 0.9, "looks wrong"}, {math.NaN(), 0.1, "looks wrong"},
	} {
		if got := verdict(c.same, c.other); !strings.Contains(got, c.want) {
			t.Errorf("%v and %v: %s, want %s", c.same, c.other, got, c.want)
		}
	}
}
