package vargp

import (
	"fmt"
	"slices"
)

// A Checkpoint is the state of training between two epochs.
type Checkpoint struct {
	// Parameters are the trained parameters; the moments of Yogi have the same
	// length.
	Parameters []float64 `json:"parameters"`
	M          []float64 `json:"m"`
	V          []float64 `json:"v"`
	Steps      int       `json:"steps"`
	Trace      Trace     `json:"trace"`
	// Best are the parameters of epoch Trace.Kept and Top their mean
	// log-probability; nil if the last parameters are taken.
	Best []float64 `json:"best"`
	Top  float64   `json:"top"`
}

func (r *run) checkpoint() Checkpoint {
	return Checkpoint{Parameters: r.p, M: r.opt.m, V: r.opt.v, Steps: r.step, Trace: r.trace, Best: r.best, Top: r.top}
}

// resume restores the state of a run from a checkpoint, which need not be
// trusted: it is validated.
func (r *run) resume(c Checkpoint) error {
	n := len(r.p)
	if len(c.Parameters) != n || len(c.M) != n || len(c.V) != n || c.Best != nil && len(c.Best) != n {
		return fmt.Errorf("checkpoint of %d parameters, the task has %d: it belongs to another model or task",
			len(c.Parameters), n)
	}
	for _, v := range slices.Concat(c.Parameters, c.M, c.V, c.Best) {
		if v-v != 0 {
			return fmt.Errorf("checkpoint holds a NaN or an infinity")
		}
	}
	epochs := len(c.Trace.Epochs)
	if c.Steps < 0 || epochs > r.epochs() || c.Trace.Kept < 0 || c.Trace.Kept > epochs ||
		slices.ContainsFunc(c.V, func(v float64) bool { return v < 0 }) {
		return fmt.Errorf("checkpoint after %d steps and %d epochs of %d", c.Steps, epochs, r.epochs())
	}
	r.p, r.opt.m, r.opt.v = slices.Clone(c.Parameters), slices.Clone(c.M), slices.Clone(c.V)
	r.step, r.opt.step = c.Steps, c.Steps
	r.trace = Trace{Epochs: slices.Clone(c.Trace.Epochs), Kept: c.Trace.Kept}
	r.best, r.top = slices.Clone(c.Best), c.Top
	r.m.unpack(r.p, r.first)
	return nil
}
