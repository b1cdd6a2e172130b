package model

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestForgetSeveralClasses: the model is the one that never saw any of them, or, by the
// head's own means, the one that forgot them one by one.
func TestForgetSeveralClasses(t *testing.T) {
	p := history(6)
	path := p.learned(t, settings("ppca"))
	m := mustLoad(t, path)
	gone := map[string]bool{"cat": true, "elk": true}
	got, err := m.ForgetClasses(context.Background(), []string{"elk", "cat", "elk"}, Forgetting{Rows: p.rows})
	if err != nil || got.Way != Relearned {
		t.Fatalf("%+v, %v", got, err)
	}
	never := p.where(func(_, _ int, class string) bool { return !gone[class] }).learned(t, settings("ppca"))
	if !bytes.Equal(contents(t, savedAs(t, m)), contents(t, never)) {
		t.Error("it is not the model that never saw the classes")
	}
	together, apart := mustLoad(t, path), mustLoad(t, path)
	must.Get(together.ForgetClasses(context.Background(), []string{"cat", "elk"},
		Forgetting{Approximate: true}))(t)
	for _, name := range []string{"cat", "elk"} {
		must.Get(apart.ForgetClass(context.Background(), name, Forgetting{Approximate: true}))(t)
	}
	if !bytes.Equal(contents(t, savedAs(t, together)), contents(t, savedAs(t, apart))) {
		t.Error("the classes subtracted together and one by one give different models")
	}
	_, err = m.ForgetClasses(context.Background(), []string{"ant", "unicorn"}, Forgetting{Rows: p.rows})
	if !errors.Is(err, classifier.ErrUnknownClass) || len(m.Classes()) == 0 || m.Classes()[0] != "ant" {
		t.Errorf("%v; left %v", err, m.Classes())
	}
}
