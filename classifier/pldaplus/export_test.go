package pldaplus

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// With returns the head with another setting; x and y are its base session.
func (h *Head) With(s Setting, x blas32.General, y []string) *Head {
	base, err := moments.NewSession(x, y, h.Dim(), true)
	if err != nil {
		panic(err)
	}
	logits, err := regress(context.Background(), h.Model().Shared.Space, base)
	if err != nil {
		panic(err)
	}
	out, err := New(h.method, h.cfg)
	if err != nil {
		panic(err)
	}
	if err := out.Update(func(m *model) error {
		*m = *h.Model().Clone()
		m.Shared.Setting = s
		k, classes := 0, m.Classes.Values()
		for i := range classes {
			classes[i].logit = nil
			if classes[i].base && s.Rerank > 0 {
				classes[i].logit = dense.Row(logits, k)
				k++
			}
		}
		return nil
	}); err != nil {
		panic(err)
	}
	return out
}
