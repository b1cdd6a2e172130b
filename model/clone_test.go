package model

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestClone: a clone is the model as Load would return it, and the two share nothing.
func TestClone(t *testing.T) {
	path := saved(t)
	m, again := loaded(t, path), loaded(t, path)
	clone := must.Get(m.Clone())(t)
	if clone.SHA256() != m.SHA256() || clone.StatisticsPath() != m.StatisticsPath() {
		t.Errorf("the clone is of %.12s with %s", clone.SHA256(), clone.StatisticsPath())
	}
	files := [2]string{filepath.Join(t.TempDir(), "a.model"), filepath.Join(t.TempDir(), "a.model")}
	for i, of := range []*Model{clone, again} {
		learn(t, of, batch(1, 6, 3, "eel"))
		gone := batch(0, 6, 3, "ant", "bee", "cat", "dog").only([]int{0, 7})
		must.Get(of.ForgetSamples(context.Background(), gone, Forgetting{}))(t)
		save(t, of, files[i])
	}
	if !bytes.Equal(contents(t, files[0]), contents(t, files[1])) {
		t.Error("the clone learned and forgot something else than the model that was loaded")
	}
	unchanged := filepath.Join(t.TempDir(), "b.model")
	save(t, m, unchanged)
	if !bytes.Equal(contents(t, unchanged), contents(t, path)) {
		t.Error("what the clone learned has reached the model")
	}
}
