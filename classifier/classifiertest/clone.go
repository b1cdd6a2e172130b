package classifiertest

import (
	"context"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// checkClone checks that a clone equals its head, fitted or not, and that what one
// learns or forgets, and its backend, do not reach the other.
func checkClone(t *testing.T, f Factory) {
	h := f.learned(t, base())
	cloner, ok := h.(classifier.Cloner)
	if !ok {
		t.Skip("cannot be cloned")
	}
	clone := func(of classifier.Cloner) classifier.Learner {
		t.Helper()
		head, err := of.Clone()
		if err != nil {
			t.Fatal(err)
		}
		return head
	}
	before, other := everything(t, h), clone(cloner)
	unchanged(t, "cloning", other, before)
	learn(t, other, f.novel())
	unchanged(t, "learning in a clone", h, before)
	f.sameHead(t, "clone that learned", other, f.learned(t, base(), f.novel()))

	before = everything(t, other)
	if forgetter, ok := h.(classifier.Forgetter); ok && !f.FixedBase {
		if err := forgetter.Forget(h.Classes()[0]); err != nil {
			t.Fatal(err)
		}
	}
	learn(t, h, f.novel())
	unchanged(t, "changing a cloned head", other, before)

	ctx := &fading{Context: context.Background()}
	ctx.left.Store(1 << 40)
	classifier.UseBackend(other, linalg.Until(ctx, linalg.OnFrom(linalg.Gonum{}, linalg.Gonum{}, 0)))
	products := ctx.left.Load()
	learn(t, h, f.novel())
	if everything(t, h); ctx.left.Load() != products {
		t.Error("a head multiplies with the backend of its clone")
	}

	unfitted := clone(f.learned(t).(classifier.Cloner))
	learn(t, unfitted, base())
	f.sameHead(t, "clone of an unfitted head", unfitted, f.learned(t, base()))
}
