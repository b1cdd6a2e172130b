package ncm

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/moments"
)

type settings struct {
	Config Config `json:"config"`
	classifier.Learned
	Tau float64 `json:"tau"`
}

// Save implements classifier.Saver: tensors "count" (C) and "sum" (C×d).
func (h *NCM) Save() (classifier.State, error) {
	if h.classes.Len() == 0 {
		return classifier.NewState(settings{Config: h.cfg}, nil)
	}
	return classifier.NewState(settings{h.cfg, classifier.Learned{Dim: h.dim, Classes: h.classes.Names()}, h.tau}, moments.TotalTensors(h.classes.Values(), h.dim))
}

// Load returns the head that Save described.
func Load(s classifier.State) (*NCM, error) {
	h, err := load(s)
	if err != nil {
		return nil, fmt.Errorf("ncm: load: %w", err)
	}
	return h, nil
}

func load(s classifier.State) (*NCM, error) {
	var set settings
	if err := s.Decode(&set); err != nil {
		return nil, err
	}
	h, err := New(set.Config)
	if err != nil {
		return nil, err
	}
	if fitted, err := set.Check(s); !fitted {
		return h, err
	}
	if !(set.Tau >= 1e-120 && set.Tau <= 1e120) {
		return nil, fmt.Errorf("temperature %g", set.Tau)
	}
	classes, err := moments.LoadTotals(s, len(set.Classes), set.Dim)
	if err != nil {
		return nil, err
	}
	m := model{dim: set.Dim, tau: set.Tau, classes: classifier.NewTable(set.Classes, classes)}
	m.derive(h.cfg)
	h.model = m
	return h, nil
}
