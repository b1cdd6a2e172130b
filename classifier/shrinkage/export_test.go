package shrinkage

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
)

// With returns the head with another setting in force; x and y are its base
// session.
func (h *Head) With(s Setting, x blas32.General, y []string) *Head {
	out := *h
	out.setting = s
	logits, err := regress(context.Background(), h.space, x, y)
	if err != nil {
		panic(err)
	}
	k := 0
	var groups []classifier.Group
	var fitted []class
	for i, name := range h.classes.Names() {
		old := h.classes.Values()[i]
		next := class{Total: old.Total, base: old.base}
		if old.base && s.Rerank > 0 {
			next.logit = logits.Data[k*logits.Stride : (k+1)*logits.Stride]
			k++
		}
		c, err := out.fit(next, old.stats)
		if err != nil {
			panic(err)
		}
		groups, fitted = append(groups, classifier.Group{Class: name}), append(fitted, c)
	}
	if err := out.replace(groups, fitted); err != nil {
		panic(err)
	}
	return &out
}
