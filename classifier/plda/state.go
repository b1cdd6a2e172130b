package plda

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/moments"
)

type settings struct {
	Config  Config   `json:"config"`
	Dim     int      `json:"dim"`
	Rank    int      `json:"rank"`
	Rest    float64  `json:"beta_rest"`
	Classes []string `json:"classes"`
	Choice  *Choice  `json:"epsilon_choice,omitempty"`
}

// Save implements classifier.Saver: tensors "count" (C), "sum" (C×d),
// "origin" (d), "whiten" (d×d), "directions" (r×d) and "beta" (r).
func (h *PLDA) Save() (classifier.State, error) {
	if h.space == nil {
		return classifier.NewState(settings{Config: h.cfg}, nil)
	}
	d, r, sp := h.Dim(), len(h.space.beta), h.space
	totals := make([]moments.Total, h.classes.Len())
	for i, c := range h.classes.Values() {
		totals[i] = c.Total
	}
	tensors := moments.TotalTensors(totals, d)
	tensors["origin"] = copied(sp.origin, d)
	tensors["whiten"] = copied(sp.whiten.Data, d, d)
	tensors["directions"] = copied(sp.directions.Data, r, d)
	tensors["beta"] = copied(sp.beta, r)
	return classifier.NewState(settings{h.cfg, d, r, sp.rest, h.Classes(), h.choice}, tensors)
}

func copied(values []float64, shape ...int) classifier.Tensor {
	return classifier.Tensor{Shape: shape, F64: append([]float64{}, values...)}
}

// Load returns the head that Save described.
func Load(s classifier.State) (*PLDA, error) {
	h, err := load(s)
	if err != nil {
		return nil, fmt.Errorf("plda: load: %w", err)
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
	if len(set.Classes) == 0 {
		return h, checkUnfitted(s)
	}
	if err := checkChoice(set.Config, set.Choice); err != nil {
		return nil, err
	}
	h.choice = set.Choice
	if err := classifier.CheckClasses(set.Classes); err != nil {
		return nil, err
	}
	if set.Dim < 1 || set.Rank < 0 || set.Rank > set.Dim || !(set.Rest > 0 && set.Rest < 1e100) {
		return nil, fmt.Errorf("dimension %d, rank %d, remaining variance %g", set.Dim, set.Rank, set.Rest)
	}
	sp, err := loadSpace(s, set)
	if err != nil {
		return nil, err
	}
	totals, err := moments.LoadTotals(s, len(set.Classes), set.Dim)
	if err != nil {
		return nil, err
	}
	return h, h.replace(sp, named(set.Classes), totals)
}

// checkUnfitted refuses a head that has arrays but no classes.
func checkUnfitted(s classifier.State) error {
	if len(s.Tensors) > 0 {
		return fmt.Errorf("%d tensors, but no classes", len(s.Tensors))
	}
	return nil
}

func loadSpace(s classifier.State, set settings) (*space, error) {
	d, r := set.Dim, set.Rank
	sp := &space{rest: set.Rest}
	for _, t := range []struct {
		name  string
		shape []int
		dst   *[]float64
	}{{"origin", []int{d}, &sp.origin}, {"beta", []int{r}, &sp.beta}, {"whiten", []int{d, d}, &sp.whiten.Data}, {"directions", []int{r, d}, &sp.directions.Data}} {
		var err error
		if *t.dst, err = s.Float64(t.name, t.shape...); err != nil {
			return nil, err
		}
	}
	for _, b := range sp.beta {
		if !(b > 0 && b < 1e100) {
			return nil, fmt.Errorf("tensor beta: %g is not a variance", b)
		}
	}
	sp.whiten = blas64.General{Rows: d, Cols: d, Stride: d, Data: sp.whiten.Data}
	sp.directions = blas64.General{Rows: r, Cols: d, Stride: d, Data: sp.directions.Data}
	return sp, nil
}

func named(classes []string) []classifier.Group {
	groups := make([]classifier.Group, len(classes))
	for i, c := range classes {
		groups[i].Class = c
	}
	return groups
}
