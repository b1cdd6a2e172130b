package gptree

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/gp"
)

type settings struct {
	Config  Config   `json:"config"`
	Dim     int      `json:"dim"`
	Classes []string `json:"classes"`
	// Base is the tree of a base session that was fitted by VI.
	Base   *Tree   `json:"base,omitempty"`
	Choice *Choice `json:"root_choice,omitempty"`
}

// Save implements classifier.Saver: tensors "count" and "session" (C), and
// "points" (N×d), the inducing inputs and embeddings that the classifier keeps,
// by class; "omega", the Pólya-Gamma variables of the Gibbs nodes, chain after
// chain; "vi_eta" and "vi_precision", the natural parameters of the VI nodes.
func (h *GPTree) Save() (classifier.State, error) {
	if h.model == nil {
		return classifier.NewState(settings{Config: h.cfg}, nil)
	}
	set := settings{Config: h.cfg, Dim: h.dim, Classes: h.Classes(), Choice: h.choice}
	tensors := h.keptTensors()
	var omega []float64
	for _, n := range h.model.nodes {
		if g, ok := n.latent.(*gp.Gibbs); ok {
			omega = append(omega, slices.Concat(g.Omega()...)...)
		}
	}
	tensors["omega"] = vectorTensor(omega)
	if h.base != nil {
		set.Base = h.base.tree
		var eta, precision []float64
		for _, v := range h.base.nodes {
			e, p := v.State()
			eta, precision = append(eta, e...), append(precision, p.Data...)
		}
		tensors["vi_eta"], tensors["vi_precision"] = vectorTensor(eta), vectorTensor(precision)
	}
	return classifier.NewState(set, tensors)
}

func vectorTensor(v []float64) classifier.Tensor {
	return classifier.Tensor{Shape: []int{len(v)}, F64: append([]float64{}, v...)}
}

func (h *GPTree) keptTensors() map[string]classifier.Tensor {
	var counts, sessions []int
	var points []float32
	for _, k := range h.all.Values() {
		counts, sessions = append(counts, len(k.rows)), append(sessions, k.session)
		points = append(points, slices.Concat(k.rows...)...)
	}
	return map[string]classifier.Tensor{
		"count": classifier.CountTensor(counts), "session": classifier.CountTensor(sessions),
		"points": {Shape: []int{len(points) / h.dim, h.dim}, F32: points},
	}
}

// Load returns the classifier that Save described.
func Load(s classifier.State) (*GPTree, error) {
	h, err := load(s)
	if err != nil {
		return nil, fmt.Errorf("gptree: load: %w", err)
	}
	return h, nil
}

func load(s classifier.State) (*GPTree, error) {
	var set settings
	if err := s.Decode(&set); err != nil {
		return nil, err
	}
	h, err := New(set.Config)
	if err != nil {
		return nil, err
	}
	if len(set.Classes) == 0 {
		return h, s.CheckUnfitted()
	}
	if err := classifier.CheckClasses(set.Classes); err != nil {
		return nil, err
	}
	if err := checkChoice(set.Config, set.Choice); err != nil {
		return nil, err
	}
	h.dim, h.choice = set.Dim, set.Choice
	if err := h.loadKept(s, set.Classes); err != nil {
		return nil, err
	}
	if err := h.loadBase(s, set.Base); err != nil {
		return nil, err
	}
	return h, h.loadModel(s)
}

// maxSession bounds the number of a session in a file.
const maxSession = 1 << 30

func (h *GPTree) loadKept(s classifier.State, classes []string) error {
	counts, err := s.Counts("count", len(classes), 1, maxPerClass)
	if err != nil {
		return err
	}
	sessions, err := s.Counts("session", len(classes), baseSession, maxSession)
	if err != nil {
		return err
	}
	var total int
	for _, n := range counts {
		total += n
	}
	if h.dim < 1 {
		return fmt.Errorf("dimension %d", h.dim)
	}
	points, err := s.Float32("points", total, h.dim)
	if err != nil {
		return err
	}
	for i, name := range classes {
		k := kept{session: sessions[i]}
		for range counts[i] {
			k.rows, points = append(k.rows, points[:h.dim:h.dim]), points[h.dim:]
		}
		if !k.rows.Sorted() {
			return fmt.Errorf("tensor points: those of class %q are not in order", name)
		}
		h.all.Put(name, k)
	}
	return nil
}

// loadBase restores the VI nodes of the base session.
func (h *GPTree) loadBase(s classifier.State, tree *Tree) error {
	if (h.cfg.Base == BaseVI) != (tree != nil) {
		return fmt.Errorf("base %s, but the presence of its tree says otherwise", h.cfg.Base)
	}
	if tree == nil {
		return nil
	}
	b := &vi{tree: tree}
	for i, name := range h.all.Names() {
		if h.all.Values()[i].session == baseSession {
			b.classes = append(b.classes, name)
		}
	}
	slices.Sort(b.classes)
	if len(b.classes) != tree.Classes() {
		return fmt.Errorf("%d base classes in a tree of %d", len(b.classes), tree.Classes())
	}
	h.base = b
	return b.load(s, h.cfg, h.dim, &h.all)
}

func (b *vi) load(s classifier.State, cfg Config, dim int, all *members) error {
	points := make(map[string]kept)
	for _, name := range b.classes {
		points[name], _ = all.Get(name)
	}
	eta, err := s.Float64("vi_eta", len(s.Tensors["vi_eta"].F64))
	if err != nil {
		return err
	}
	precision, err := s.Float64("vi_precision", len(s.Tensors["vi_precision"].F64))
	if err != nil {
		return err
	}
	k := cfg.kernel(cfg.Outputscale)
	for split, at := range b.tree.splits {
		_, z, _, err := b.gather(cfg, dim, at, nil, points)
		if err != nil {
			return err
		}
		m := z.Len()
		if len(eta) < m || len(precision)/m < m {
			return fmt.Errorf("tensors vi_eta, vi_precision: too few values for split %d", split)
		}
		gram, err := k.Gram(z)
		if err != nil {
			return err
		}
		v, err := gp.LoadVI(gram, eta[:m], blas64.General{Rows: m, Cols: m, Stride: m, Data: precision[:m*m]})
		if err != nil {
			return fmt.Errorf("split %d: %w", split, err)
		}
		b.nodes, eta, precision = append(b.nodes, v), eta[m:], precision[m*m:]
	}
	if len(eta) > 0 || len(precision) > 0 {
		return fmt.Errorf("tensors vi_eta, vi_precision: %d and %d values too many", len(eta), len(precision))
	}
	return nil
}

// loadModel restores the Gibbs nodes from their ω.
func (h *GPTree) loadModel(s classifier.State) error {
	omega, err := s.Float64("omega", len(s.Tensors["omega"].F64))
	if err != nil {
		return err
	}
	cfg := h.effective()
	from := func(prior gp.Prior, left []bool, _ gp.Stream) (*gp.Gibbs, error) {
		n := prior.Len()
		if len(omega)/n < cfg.Chains {
			return nil, fmt.Errorf("tensor omega: too few values")
		}
		chains := make([][]float64, cfg.Chains)
		for c := range chains {
			chains[c], omega = omega[:n:n], omega[n:]
		}
		return gp.NewGibbs(prior, left, chains)
	}
	if h.model, err = assembleModel(context.Background(), cfg, h.dim, &h.all, h.base, from); err != nil {
		return err
	}
	if len(omega) > 0 {
		return fmt.Errorf("tensor omega: %d values too many", len(omega))
	}
	return nil
}
