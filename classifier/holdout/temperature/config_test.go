package temperature_test

import (
	"math"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
)

func TestValidate(t *testing.T) {
	for _, T := range []float64{-1, 1e-4, 1e5, math.NaN(), math.Inf(1)} {
		if err := (temperature.Config{Temperature: T}).Validate(); err == nil ||
			!strings.HasPrefix(err.Error(), "temperature: ") {
			t.Errorf("%g: %v", T, err)
		}
	}
}
