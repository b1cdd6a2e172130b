package temperature

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/episodes"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/onnx"
)

// A Value is a temperature and the record of how it was found, as saved in a
// model. A nil Value leaves probabilities unchanged.
type Value struct {
	T float64 `json:"temperature"`
	// Before and After are the negative log-likelihoods of the held-out examples
	// in nats, at a temperature of 1 and at T.
	Before float64 `json:"nll_before"`
	After  float64 `json:"nll_after"`
	// ECE is the expected calibration error of the held-out examples at T, 0 to 1.
	ECE float64 `json:"ece"`
	// Config says how the episodes were drawn, nil if there were none.
	Config *episodes.Config `json:"pseudo_sessions,omitempty"`
	// Fallback says why T is 1.
	Fallback string `json:"fallback,omitempty"`
}

// Check returns an error unless v is consistent with a head with these
// settings; v must be nil while the head is unfitted or T is set to 1.
func (v *Value) Check(c Config, fitted bool) error {
	if err := c.Validate(); err != nil {
		return err
	}
	if wanted := fitted && c.Temperature != 1; wanted != (v != nil) {
		return fmt.Errorf("temperature: the recorded fit does not match the settings, or the head is unfitted")
	}
	if v == nil {
		return nil
	}
	if c.Temperature != Auto && c.Temperature != v.T {
		return fmt.Errorf("temperature: the model records %g, the settings have %g", v.T, c.Temperature)
	}
	return check(v.T)
}

// Apply divides log-probabilities by T and normalises each row again. The
// winning class stays the same, even if it leads only by the last bit.
func (v *Value) Apply(logProb blas64.General) {
	if v == nil || v.T == 1 {
		return
	}
	for i := range logProb.Rows {
		row := dense.Row(logProb, i)
		best := floats.MaxIdx(row)
		for j := range row {
			row[j] /= v.T
		}
		classifier.LogSoftmax(row)
		if now := floats.MaxIdx(row); now != best { // rounding made them equal
			row[best] = math.Nextafter(row[now], math.Inf(1))
		}
	}
}

// Graph adds Apply as a graph to g and returns the name of the result.
func (v *Value) Graph(g *onnx.Graph, logProb string) string {
	if v == nil || v.T == 1 {
		return logProb
	}
	return classifier.LogSoftmaxGraph(g, g.Op("Div", g.Cast(logProb, onnx.Float64), g.Scalar(v.T)))
}
