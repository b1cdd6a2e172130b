package model

import (
	"path/filepath"
	"reflect"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// Which classes are of the base session follows their names: a model whose classes have other names,
// or have become one, can be written, and says the same once it is read.
func TestRenamedBaseClasses(t *testing.T) {
	for name, names := range map[string][2]string{
		"another name":                {"ant", "aphid"},
		"a base class with another":   {"bee", "cat"},
		"a base class with a later":   {"cat", "dog"},
		"a later class with a base":   {"dog", "ant"},
		"a later class, another name": {"dog", "dingo"},
	} {
		t.Run(name, func(t *testing.T) {
			s := settings("plda")
			s.OldShare = 0.8
			m, _ := must.Get2(Train(t.Context(), s, noisy(0, 6, "ant", "bee", "cat")))(t)
			learn(t, m, noisy(1, 3, "dog"))
			must.Do(t, m.RenameClass(names[0], names[1]))
			path := filepath.Join(t.TempDir(), "m")
			save(t, m, path)
			back, test := mustLoad(t, path), noisy(3, 4, "ant", "cat")
			if !reflect.DeepEqual(m.Predictor.base, back.Predictor.base) {
				t.Errorf("base classes %v, and %v once it is read", m.Predictor.base, back.Predictor.base)
			}
			if !reflect.DeepEqual(logProb(t, m, test), logProb(t, back, test)) {
				t.Error("the loaded model predicts differently")
			}
		})
	}
}
