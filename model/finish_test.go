package model

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestFinishForgetting: what an interrupted run left goes, and nothing else.
func TestFinishForgetting(t *testing.T) {
	holds := func(class string) func(*Model) bool {
		return func(m *Model) bool { return slices.Contains(m.Classes(), class) }
	}
	for name, c := range map[string]struct {
		holds   func(*Model) bool
		damage  bool
		removed int
	}{
		"the previous version holds it":  {holds("gnu"), false, 3},
		"the previous version does not":  {holds("emu"), false, 1},
		"the previous version is kept":   {nil, false, 1},
		"the previous one is unreadable": {holds("emu"), true, 3},
	} {
		t.Run(name, func(t *testing.T) {
			path := history(6).learned(t, settings("ppca"))
			m := mustLoad(t, path)
			learn(t, m, noisy(4, 3, "gnu"))
			save(t, m, path)
			must.Get(m.ForgetClass(t.Context(), "gnu", Forgetting{}))(t)
			save(t, m, path) // its previous version has the class
			left := path + statisticsInfix + "0123456789abcdef"
			must.Do(t, os.WriteFile(left, nil, 0o600))
			if c.damage {
				must.Do(t, os.Truncate(path+previousSuffix, 1000))
			}
			before := contents(t, path)
			removed, err := FinishForgetting(path, c.holds)
			if err != nil || len(removed) != c.removed || !slices.Contains(removed, left) {
				t.Errorf("removed %q, %v", removed, err)
			}
			if _, err := os.Stat(path + previousSuffix); (err == nil) != (c.removed == 1) {
				t.Errorf("the previous version: %v", err)
			}
			if string(contents(t, path)) != string(before) || mustLoad(t, path).statistics.problem != nil {
				t.Error("the model was changed")
			}
			if n := len(names(t, filepath.Dir(path))); n != 5-c.removed {
				t.Errorf("%v are left", names(t, filepath.Dir(path)))
			}
		})
	}
}

// TestDropPreviousOfAnEqualModel: nothing has to be written, but the previous version goes.
func TestDropPreviousOfAnEqualModel(t *testing.T) {
	path := saved(t)
	m := loaded(t, path)
	learn(t, m, batch(1, 2, 3, "elk"))
	save(t, m, path)
	m = loaded(t, path)
	m.DropPrevious = true
	save(t, m, path)
	if got := names(t, filepath.Dir(path)); len(got) != 2 {
		t.Errorf("%v are left", got)
	}
}
