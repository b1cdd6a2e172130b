package table_test

import (
	"math"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/research/table"
)

// TestSamples: one value has no spread, no values have no mean; differences end
// with the shorter sample.
func TestSamples(t *testing.T) {
	if mean, sd := table.MeanSD([]float64{1, 2, 3}); mean != 2 || sd != 1 {
		t.Errorf("%g ± %g", mean, sd)
	}
	if mean, sem := table.MeanSEM([]float64{1, 2, 3}); mean != 2 || math.Abs(sem-1/math.Sqrt(3)) > 1e-15 {
		t.Errorf("%g ± %g", mean, sem)
	}
	for want, values := range map[string][]float64{table.None: nil, "12.50": {0.125}, "50.00 ± 0.00": {0.5, 0.5}} {
		if got := table.PlusMinus(table.MeanSEM(values)); got != want {
			t.Errorf("%v: %q, want %q", values, got, want)
		}
	}
	if d := table.Differences([]float64{3, 2, 1}, []float64{1, 2}); !slices.Equal(d, []float64{2, 0}) {
		t.Errorf("differences %v", d)
	}
	if len(table.Differences(nil, []float64{1})) != 0 {
		t.Error("a difference of nothing")
	}
}
