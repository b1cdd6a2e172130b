package shrinkage

import (
	"fmt"
	"maps"
	"math"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/gauss"
	"github.com/seed-90d10d51/pipeline/classifier/moments"
)

type settings struct {
	Method  string  `json:"method"`
	Config  Config  `json:"config"`
	Setting Setting `json:"setting"`
	classifier.Learned
	Rank   int     `json:"rank"`
	Rest   float64 `json:"beta_rest"`
	Choice *Choice `json:"choice,omitempty"`
}

// Save implements classifier.Saver: tensors "count" (C), "sum" (C×d) and
// "base" (C, 1 or 0); the space "origin" (d), "whiten" (d×d), "directions"
// (r×d), "beta" (r); what classes have of their own, "components" (C),
// "residual" (C) and, stacked over the classes, "values" (Σq) and "vectors"
// (Σq×d, float32); "logits" (base classes×(d+1)), without rows where the
// setting does not rank anew. The statistics are not part of it.
func (h *Head) Save() (classifier.State, error) {
	if h.space == nil {
		return classifier.NewState(settings{Method: h.method, Config: h.cfg}, nil)
	}
	d := h.Dim()
	tensors := saveClasses(h.classes.Values(), d)
	maps.Copy(tensors, h.space.Tensors())
	return classifier.NewState(settings{h.method, h.cfg, h.setting, classifier.Learned{Dim: d, Classes: h.Classes()}, len(h.space.Beta), h.space.Rest, h.choice}, tensors)
}

func saveClasses(classes []class, d int) map[string]classifier.Tensor {
	n := len(classes)
	totals, base, components, residual := make([]moments.Total, n), make([]int, n), make([]int, n), make([]float64, n)
	values, vectors, logits := []float64{}, []float32{}, []float64{}
	for i, c := range classes {
		totals[i], components[i], residual[i] = c.Total, len(c.own.values), c.own.residual
		if c.base {
			base[i] = 1
		}
		values, vectors, logits = append(values, c.own.values...), append(vectors, c.own.vectors...), append(logits, c.logit...)
	}
	tensors := moments.TotalTensors(totals, d)
	tensors["base"], tensors["components"] = classifier.CountTensor(base), classifier.CountTensor(components)
	tensors["residual"] = classifier.Tensor{Shape: []int{n}, F64: residual}
	tensors["values"] = classifier.Tensor{Shape: []int{len(values)}, F64: values}
	tensors["vectors"] = classifier.Tensor{Shape: []int{len(values), d}, F32: vectors}
	tensors["logits"] = classifier.Tensor{Shape: []int{len(logits) / (d + 1), d + 1}, F64: logits}
	return tensors
}

// Load returns the head that Save described, without statistics; it must be
// the named method.
func Load(method string, s classifier.State) (*Head, error) {
	h, err := load(s)
	if err == nil && h.method != method {
		err = fmt.Errorf("the head is %s", h.method)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: load: %w", method, err)
	}
	return h, nil
}

func load(s classifier.State) (*Head, error) {
	var set settings
	if err := s.Decode(&set); err != nil {
		return nil, err
	}
	h, err := New(set.Method, set.Config)
	if err != nil {
		return nil, err
	}
	if fitted, err := set.Check(s); !fitted {
		return h, err
	}
	if err := set.check(); err != nil {
		return nil, err
	}
	h.setting, h.choice = set.Setting, set.Choice
	if h.space, err = gauss.LoadSpace(s, set.Dim, set.Rank, set.Rest); err != nil {
		return nil, err
	}
	h.space.Certain = !set.Config.Uncertain
	classes, err := loadClasses(s, set)
	if err != nil {
		return nil, err
	}
	return h, h.replace(classifier.Named(set.Classes), classes)
}

// check returns an error unless the setting belongs to the configuration.
func (set settings) check() error {
	if err := checkSetting(set.Setting); err != nil {
		return err
	}
	if set.Config.chooses() != (set.Choice != nil) {
		return fmt.Errorf("the configuration does not go with the recorded choice")
	}
	if set.Choice == nil {
		if set.Setting != plain(set.Config.Nu) {
			return fmt.Errorf("setting %+v is not that of the configuration", set.Setting)
		}
		return nil
	}
	if set.Choice.Value != set.Setting {
		return fmt.Errorf("setting %+v is not the chosen one", set.Setting)
	}
	if err := episodes.Valid(*set.Choice, checkSetting); err != nil {
		return fmt.Errorf("choice: %w", err)
	}
	return nil
}

func loadClasses(s classifier.State, set settings) ([]class, error) {
	n, d := len(set.Classes), set.Dim
	totals, err := moments.LoadTotals(s, n, d)
	if err != nil {
		return nil, err
	}
	base, err := s.Counts("base", n, 0, 1)
	if err != nil {
		return nil, err
	}
	own, err := loadSpreads(s, n, d, set.Config.Q)
	if err != nil {
		return nil, err
	}
	classes, ranked := make([]class, n), 0
	for i := range classes {
		classes[i] = class{Total: totals[i], base: base[i] == 1, own: own[i]}
		ranked += base[i]
	}
	if set.Setting.Rerank == 0 {
		ranked = 0
	}
	logits, err := s.Float64("logits", ranked, d+1)
	if err != nil {
		return nil, err
	}
	for i := range classes {
		if classes[i].base && ranked > 0 {
			classes[i].logit, logits = logits[:d+1], logits[d+1:]
		}
	}
	return classes, nil
}

func loadSpreads(s classifier.State, n, d, q int) ([]spread, error) {
	components, err := s.Counts("components", n, 0, min(q, d))
	if err != nil {
		return nil, err
	}
	rows := 0
	for _, k := range components {
		rows += k
	}
	residual, err := s.Float64("residual", n)
	if err != nil {
		return nil, err
	}
	values, err := s.Float64("values", rows)
	if err != nil {
		return nil, err
	}
	vectors, err := s.Float32("vectors", rows, d)
	if err != nil {
		return nil, err
	}
	for _, v := range append(values[:rows:rows], residual...) {
		if !(v >= 0 && v <= math.MaxFloat32) {
			return nil, fmt.Errorf("tensors values and residual: %g is not a variance", v)
		}
	}
	out := make([]spread, n)
	for i, k := range components {
		out[i] = spread{values: values[:k:k], vectors: vectors[: k*d : k*d], residual: residual[i]}
		values, vectors = values[k:], vectors[k*d:]
	}
	return out, nil
}
