package classifiertest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
)

// renamed returns a session with another name for a class.
func renamed(s session, class, to string) session {
	s.y = slices.Clone(s.y)
	for i, y := range s.y {
		if y == class {
			s.y[i] = to
		}
	}
	return s
}

// checkRename checks that a renamed class is as if learned by that name, and that two
// classes that become one are as if one had lost its examples to the other.
func checkRename(t *testing.T, f Factory) {
	h := f.learned(t, base(), f.novel())
	r, ok := h.(classifier.Renamer)
	if !ok {
		t.Skip("cannot rename classes")
	}
	before := everything(t, h)
	if err := r.Rename("yak", "zebra"); !errors.Is(err, classifier.ErrUnknownClass) {
		t.Errorf("renaming an unknown class: %v", err)
	}
	unchanged(t, "renaming an unknown class", h, before)
	if err := r.Rename("dog", "dove"); err != nil {
		t.Fatal(err)
	}
	f.sameHead(t, "renamed", h, f.learned(t, base(), renamed(f.novel(), "dog", "dove")))
	before = everything(t, h)
	err := r.Rename("bee", "ant")
	if !r.Joins() {
		if !errors.Is(err, classifier.ErrUnsupported) {
			t.Errorf("making two classes one: %v", err)
		}
		unchanged(t, "refusing to make two classes one", h, before)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	var bees session
	all := base()
	for i, y := range all.y {
		if y == "bee" {
			bees.x.Data, bees.y = append(bees.x.Data, all.x.Data[i*dim:(i+1)*dim]...), append(bees.y, y)
		}
	}
	bees.x.Rows, bees.x.Cols, bees.x.Stride = len(bees.y), dim, dim
	want := f.learned(t, base(), renamed(f.novel(), "dog", "dove"))
	if err := want.(classifier.SampleForgetter).ForgetSamples(bees.x, bees.y); err != nil {
		t.Fatal(err)
	}
	if err := want.Learn(context.Background(), bees.x, renamed(bees, "bee", "ant").y); err != nil {
		t.Fatal(err)
	}
	f.sameHead(t, "made one", h, want)
}
