package temperature

import (
	"cmp"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/onnx"
)

// A Value is a temperature and the record of how it was found, as saved in a
// model. A nil Value leaves probabilities unchanged.
type Value struct {
	// T is the temperature in use.
	T float64 `json:"temperature"`
	// Alone and Later are T while there are base classes alone, and once later classes
	// have the share that they have in pseudo-sessions; 0 if T does not depend on that.
	Alone float64 `json:"alone,omitempty"`
	Later float64 `json:"later,omitempty"`
	// Wrong is the share of the held-out examples whose labels are taken to be wrong, 0 to 1.
	Wrong float64 `json:"wrong_labels,omitempty"`
	// Before and After are the negative log-likelihoods of the held-out labels
	// in nats, of which that share is wrong, at a temperature of 1 and at T (at Alone, of
	// base classes alone).
	Before float64 `json:"nll_before"`
	After  float64 `json:"nll_after"`
	// ECE is the expected calibration error of the held-out examples at T, 0 to 1.
	ECE float64 `json:"ece"`
	// Config says how the episodes were drawn, nil if there were none.
	Config *episodes.Config `json:"pseudo_sessions,omitempty"`
	// Fallback says why T is 1.
	Fallback string `json:"fallback,omitempty"`
}

// Staged returns the temperature of base classes alone, given what is held out then,
// what is held out once there are later classes, and the share of wrong labels. If either
// likelihood cannot be used, T is 1 throughout.
func Staged(alone, later *Likelihood, wrong Share) *Value {
	v, w := alone.MinimumWith(wrong), later.MinimumWith(wrong)
	if v.Fallback != "" || w.Fallback != "" {
		return &Value{T: 1, Fallback: cmp.Or(v.Fallback, w.Fallback)}
	}
	v.Alone, v.Later = v.T, w.T
	return v
}

// With returns v with the T for a share of the classes, 0 to 1, that are later ones:
// geometric interpolation between Alone and Later, which is that of all larger shares.
func (v *Value) With(share float64) *Value {
	if v == nil || v.Later == 0 || v.Config == nil {
		return v
	}
	next, at := *v, min(share/v.Config.NovelShare, 1)
	next.T = math.Pow(v.Alone, 1-at) * math.Pow(v.Later, at)
	return &next
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
	if !(v.Wrong >= 0 && v.Wrong < 1) {
		return fmt.Errorf("temperature: a share of %g wrong labels", v.Wrong)
	}
	if c.Temperature != Auto && c.Temperature != v.T {
		return fmt.Errorf("temperature: the model records %g, the settings have %g", v.T, c.Temperature)
	}
	if v.Alone == 0 && v.Later == 0 {
		return check(v.T)
	}
	if v.Config == nil {
		return fmt.Errorf("temperature: %g alone and %g later without pseudo-sessions", v.Alone, v.Later)
	}
	return cmp.Or(check(v.T), check(v.Alone), check(v.Later), v.Config.Validate())
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
