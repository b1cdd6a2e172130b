package engine

import "fmt"

// A Snapshot is a saved Model.
type Snapshot struct {
	// Steps is the number of examples learned.
	Steps      int
	Now        Params
	Statistics Statistics
	// Reference is θ* of the class policy, nil if there is none yet.
	Reference *Params
}

// Snapshot returns the state for Restore, sharing nothing that changes.
func (m *Model) Snapshot() Snapshot {
	s := Snapshot{Steps: m.k, Now: m.now.Params, Statistics: m.stats.clone()}
	if m.ref != nil {
		s.Reference = &m.ref.Params
	}
	return s
}

// Restore returns the model of a snapshot and takes ownership of it. The counts
// of Pulls start at zero.
func Restore(cfg Config, s Snapshot) (*Model, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if s.Steps < 0 {
		return nil, fmt.Errorf("restore: %d steps", s.Steps)
	}
	g, err := NewGaussian(s.Now)
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	d, q := len(s.Now.Mean), s.Now.W.Cols
	st := s.Statistics
	if len(st.S3) != d || st.S1.Rows != d || st.S1.Cols != q || st.S2.Rows != q || st.S2.Cols != q {
		return nil, fmt.Errorf("restore: the statistics do not have the shape of %d×%d", d, q)
	}
	m := &Model{cfg: cfg, k: s.Steps, now: g, stats: s.Statistics}
	if s.Reference == nil {
		return m, nil
	}
	if len(s.Reference.Mean) != d || s.Reference.W.Cols != q {
		return nil, fmt.Errorf("restore: the reference does not have the shape of %d×%d", d, q)
	}
	if m.ref, err = NewGaussian(*s.Reference); err != nil {
		return nil, fmt.Errorf("restore: reference: %w", err)
	}
	return m, nil
}
