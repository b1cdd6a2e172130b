package ppca

import (
	"fmt"
	"math"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/lowrank"
	"github.com/seed-90d10d51/pipeline/classifier/moments"
)

type settings struct {
	Config Config `json:"config"`
	classifier.Learned
	Choice *Choice `json:"lambda_choice,omitempty"`
}

// Save implements classifier.Saver: tensors "count" and "components" (C),
// "mean" (C×d), and, stacked over the classes, "values" (Σq) and "basis"
// (Σq×d, float32). The statistics are not part of it.
func (h *PPCA) Save() (classifier.State, error) {
	n := h.classes.Len()
	if n == 0 {
		return classifier.NewState(settings{Config: h.cfg}, nil)
	}
	counts, gs := make([]int, n), make([]lowrank.Gaussian, n)
	for i, c := range h.classes.Values() {
		counts[i], gs[i] = c.n, lowrank.Gaussian{Mean: c.mean, Values: c.values, Basis: c.basis}
	}
	tensors := map[string]classifier.Tensor{"count": classifier.CountTensor(counts)}
	lowrank.AddTensors(tensors, "", gs, classifier.Range(0, n), h.dim)
	return classifier.NewState(settings{h.cfg, classifier.Learned{Dim: h.dim, Classes: h.classes.Names()}, h.choice}, tensors)
}

// Load returns the head that Save described, without statistics.
func Load(s classifier.State) (*PPCA, error) {
	h, err := load(s)
	if err != nil {
		return nil, fmt.Errorf("ppca: load: %w", err)
	}
	return h, nil
}

func load(s classifier.State) (*PPCA, error) {
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
	classes, err := loadClasses(s, len(set.Classes), set.Dim, h.cfg.Q)
	if err != nil {
		return nil, err
	}
	h.dim, h.classes = set.Dim, classifier.NewTable(set.Classes, classes)
	h.scorer = newScorer(h.mul, h.chosen(), h.dim, classes)
	h.scorer.share(h.classes.Values())
	return h, nil
}

func loadClasses(s classifier.State, n, d, q int) ([]class, error) {
	counts, err := s.Counts("count", n, 1, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	gs, err := lowrank.FromTensors(s, "", n, d, q, 0, classifier.Range(0, n))
	if err != nil {
		return nil, err
	}
	classes := make([]class, n)
	for i, g := range gs {
		classes[i] = class{n: counts[i], mean: g.Mean, values: g.Values, basis: g.Basis}
	}
	return classes, nil
}

// Statistics implements classifier.StatisticsKeeper: the exact statistics of
// every class that has them; tensors carry the class's position in the
// settings in front, as in "3.rows". Of classes with up to d examples they
// are the embeddings themselves.
func (h *PPCA) Statistics() (classifier.State, error) {
	side := moments.SideOf(h.classes, h.dim, func(c class) *moments.Moments { return c.stats })
	return classifier.NewState(settings{Config: h.cfg, Learned: side.Learned}, side.Tensors)
}

// RestoreStatistics implements classifier.StatisticsKeeper. Statistics that
// belong to another model are refused; on error nothing changes.
func (h *PPCA) RestoreStatistics(s classifier.State) error {
	classes, err := h.restored(s)
	if err != nil {
		return fmt.Errorf("ppca: restore statistics: %w", err)
	}
	h.classes = classes
	return nil
}

func (h *PPCA) restored(s classifier.State) (classifier.Table[class], error) {
	var set settings
	if err := s.Decode(&set); err != nil {
		return h.classes, err
	}
	return moments.RestoreSide(h.classes, h.dim, moments.Side{Learned: set.Learned, Tensors: s.Tensors}, func(c class, stats *moments.Moments) (class, bool) {
		c.stats = stats
		return c, stats.Made(c.n, c.mean)
	})
}
