package gpsoftmax_test

import (
	"context"
	"errors"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier/classifiertest"
	"github.com/seed-90d10d51/pipeline/classifier/gpsoftmax"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestCancelled: sampling looks at its context before each decomposition, and
// leaves the head as it was if it is cancelled at any of its looks.
func TestCancelled(t *testing.T) {
	x, y := clouds(4, 3, 5)
	// three chains of two steps and the draws
	for method, decompositions := range map[string]int64{gpsoftmax.LSM: 3 * 3 * 4, gpsoftmax.OVE: 3 * 3} {
		h := must.Get(gpsoftmax.New(method, short(func(*gpsoftmax.Config) {})))(t)
		for looks := range decompositions {
			if err := h.Learn(classifiertest.CancelledAfter(looks), x, y); !errors.Is(err, context.Canceled) {
				t.Fatalf("%s, cancelled at look %d: %v", method, looks, err)
			}
			if len(h.Classes()) > 0 {
				t.Fatalf("%s, cancelled at look %d: has learned", method, looks)
			}
		}
	}
}
