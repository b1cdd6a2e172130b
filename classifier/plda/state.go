package plda

import (
	"fmt"
	"maps"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/gauss"
	"github.com/seed-90d10d51/pipeline/classifier/moments"
)

type settings struct {
	Config Config `json:"config"`
	classifier.Learned
	Rank   int     `json:"rank"`
	Rest   float64 `json:"beta_rest"`
	Choice *Choice `json:"epsilon_choice,omitempty"`
}

// Save implements classifier.Saver: tensors "count" (C), "sum" (C×d),
// "origin" (d), "whiten" (d×d), "directions" (r×d) and "beta" (r).
func (h *PLDA) Save() (classifier.State, error) {
	if h.space == nil {
		return classifier.NewState(settings{Config: h.cfg}, nil)
	}
	d, sp := h.Dim(), h.space
	totals := make([]moments.Total, h.classes.Len())
	for i, c := range h.classes.Values() {
		totals[i] = c.Total
	}
	tensors := moments.TotalTensors(totals, d)
	maps.Copy(tensors, sp.Tensors())
	return classifier.NewState(settings{h.cfg, classifier.Learned{Dim: d, Classes: h.Classes()}, len(sp.Beta), sp.Rest, h.choice}, tensors)
}

// Load returns the head that Save described.
func Load(s classifier.State) (*PLDA, error) { return loadAs(s, Config{}) }

// LoadLDA is Load for linear discriminant analysis.
func LoadLDA(s classifier.State) (*PLDA, error) { return loadAs(s, LDA()) }

// loadAs loads a head of the kind that cfg is.
func loadAs(s classifier.State, cfg Config) (*PLDA, error) {
	h, err := load(s)
	if err == nil && h.cfg.Certain != cfg.Certain {
		err = fmt.Errorf("the head is %s", h.cfg.method())
	}
	if err != nil {
		return nil, fmt.Errorf("%s: load: %w", cfg.method(), err)
	}
	return h, nil
}

func load(s classifier.State) (*PLDA, error) {
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
	if err := checkChoice(set.Config, set.Choice); err != nil {
		return nil, err
	}
	h.choice = set.Choice
	sp, err := gauss.LoadSpace(s, set.Dim, set.Rank, set.Rest)
	if err != nil {
		return nil, err
	}
	sp.Certain = set.Config.Certain
	totals, err := moments.LoadTotals(s, len(set.Classes), set.Dim)
	if err != nil {
		return nil, err
	}
	return h, h.replace(sp, classifier.Named(set.Classes), totals)
}
