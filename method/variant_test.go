package method

import (
	"reflect"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier/ppca"
	"github.com/seed-90d10d51/pipeline/gptree"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func TestVariantChangesWhatItSays(t *testing.T) {
	c := must.Get(DefaultConfig().Decode(map[string]any{"ppca": map[string]any{"logdet": true}}))(t)
	got, err := Variant{Name: "a", Classifier: "ppca", Set: map[string]any{"logdet": false, "q": 3}}.Settings(c)
	if err != nil {
		t.Fatal(err)
	}
	if p := Get[ppca.Config](got, "ppca"); *p.LogDet || p.Q != 3 {
		t.Errorf("logdet %v, q %d", *p.LogDet, p.Q)
	}
	if p := Get[ppca.Config](c, "ppca"); !*p.LogDet || p.Q != 20 {
		t.Errorf("the settings that it started from have logdet %v, q %d", *p.LogDet, p.Q)
	}
	got, err = Variant{Name: "a", Classifier: "gptree-random", Set: map[string]any{"chains": 3}}.Settings(c)
	if tree := Get[gptree.Config](got, "gptree"); err != nil || tree.Chains != 3 ||
		tree.Kernel != gptree.DefaultConfig().Kernel {
		t.Errorf("%+v, %v", tree, err)
	}
	if plain, err := Plain("ncm").Settings(c); err != nil || !reflect.DeepEqual(plain, c) {
		t.Errorf("%v", err)
	}
}

func TestVariantMistakes(t *testing.T) {
	for want, v := range map[string]Variant{
		"name":                   {Classifier: "ncm"},
		`cannot contain "/"`:     {Name: "a/b", Classifier: "ncm"},
		"not start with a dot":   {Name: "..", Classifier: "ncm"},
		"did you mean \"ncm\"?":  {Name: "a", Classifier: "ncn"},
		"q":                      {Name: "a", Classifier: "ppca", Set: map[string]any{"q": "many"}},
		"metrik":                 {Name: "a", Classifier: "ncm", Set: map[string]any{"metrik": "cosine"}},
		"set: ppca.q: -1":        {Name: "a", Classifier: "ppca", Set: map[string]any{"q": -1}},
		"set: gptree.chains: 0 ": {Name: "a", Classifier: "gptree", Set: map[string]any{"chains": 0}},
	} {
		if err := v.Validate(DefaultConfig()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", v, err, want)
		}
	}
	twice := []Variant{{Name: "A", Classifier: "ncm"}, {Name: "a", Classifier: "ncm"}}
	if err := ValidateVariants(twice, DefaultConfig()); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("%v", err)
	}
}
