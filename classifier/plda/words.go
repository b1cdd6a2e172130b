package plda

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// textsTensor is the name of the tensor of the texts.
const textsTensor = "texts"

// UseWords implements gauss.WordUser in O(Cd² + d³). Before the base session the head
// then knows its classes by their names alone.
func (h *PLDA) UseWords(w *gauss.Words) error {
	m := h.Model()
	switch {
	case h.cfg.Certain:
		return fmt.Errorf("%w: lda takes class means as certain, so that names say nothing; plda uses them",
			gauss.ErrWords)
	case m.Dim > 0 && w != nil && w.Texts.Cols != m.Dim:
		return fmt.Errorf("%w: the texts have %d values each, the embeddings %d: they are of another network",
			gauss.ErrWords, w.Texts.Cols, m.Dim)
	}
	return h.Update(func(m *model) error {
		m.Shared.Words = w
		for _, name := range slices.Clone(m.Classes.Names()) {
			c, _ := m.Classes.Get(name)
			if c.N == 0 && (w == nil || !slices.Contains(w.Names, name)) {
				m.Classes.Drop(name)
			}
		}
		if w == nil {
			if !m.Fitted() {
				*m = model{Backend: m.Backend}
			}
			return nil
		}
		if !m.Fitted() {
			m.Dim, m.Shared.Unstarted = w.Texts.Cols, true
			sp := gauss.Nowhere(m.Dim)
			sp.Length = h.cfg.MeanLength
			m.Shared.Settled = gauss.Settled{Rest: sp.Rest, Space: sp}
			if h.cfg.auto() {
				m.Shared.Choice = &Choice{Value: unpaired, Fallback: "no images yet"}
			}
		}
		for _, name := range w.Names {
			if _, ok := m.Classes.Get(name); !ok {
				m.Classes.Put(name, class{Total: moments.Total{Sum: make([]float64, m.Dim)}})
			}
		}
		return nil
	})
}

// Words implements gauss.WordUser.
func (h *PLDA) Words() *gauss.Words { return h.Model().Shared.Words }

// Started implements gauss.WordUser.
func (h *PLDA) Started() bool { return h.Model().Fitted() && !h.Model().Shared.Unstarted }

// Forget implements classifier.Forgetter: a class loses its name with its examples.
func (h *PLDA) Forget(name string) error {
	w := h.Words()
	err := h.Exact.Forget(name)
	if err != nil || w == nil {
		return err
	}
	return h.UseWords(w.Of(func(other string) bool { return other != name }))
}

// ForgetSamples implements classifier.SampleForgetter: a class that has a name stays
// without examples.
func (h *PLDA) ForgetSamples(x blas32.General, y []string) error {
	w := h.Words()
	err := h.Exact.ForgetSamples(x, y)
	if err != nil || w == nil {
		return err
	}
	return h.UseWords(w)
}

// Rename implements classifier.Renamer: the text of a name goes with it.
func (h *PLDA) Rename(name, to string) error {
	w := h.Words()
	err := h.Exact.Rename(name, to)
	if err != nil || w == nil {
		return err
	}
	return h.UseWords(w.Renamed(name, to))
}

// name computes what the words add to the classes.
func name(m *model, sp *gauss.Space) (err error) {
	classes := m.Classes.Values()
	totals := make([]moments.Total, len(classes))
	for i, c := range classes {
		totals[i] = c.Total
	}
	m.Shared.named, err = m.Shared.Words.On(sp, m.Classes.Names(), totals)
	return err
}

// tensors returns those of the space and of the words.
func (sh *shared) tensors() map[string]classifier.Tensor {
	tensors := sh.Space.Tensors()
	if sh.Words != nil {
		tensors[textsTensor] = sh.Words.Tensor()
	}
	return tensors
}

// fields describes the tensors of a class, which may have no examples if there are words.
func (c *class) fields(codec *classifier.Codec, m *model) {
	if m.Shared.Words == nil {
		c.Fields(codec, m.Dim)
		return
	}
	codec.Int("count", &c.N, 0, math.MaxInt32)
	codec.Float64("sum", &c.Sum, m.Dim)
}

// beside returns the columns of a followed by those of b.
func beside(a, b blas64.General) blas64.General {
	out := dense.New(a.Rows, a.Cols+b.Cols)
	dense.Copy(dense.View(out, 0, 0, a.Rows, a.Cols), a)
	dense.Copy(dense.View(out, 0, a.Cols, a.Rows, b.Cols), b)
	return out
}
