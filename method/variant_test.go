package method

import (
	"reflect"
	"strings"
	"testing"
)

func TestVariantChangesWhatItSays(t *testing.T) {
	yes := true
	c := DefaultConfig()
	c.PPCA.LogDet = &yes
	before := c.clone()
	got, err := Variant{Name: "a", Classifier: "ppca", Set: map[string]any{"logdet": false, "q": 3}}.Settings(c)
	if err != nil {
		t.Fatal(err)
	}
	if *got.PPCA.LogDet || got.PPCA.Q != 3 || !*c.PPCA.LogDet || !reflect.DeepEqual(c, before) {
		t.Errorf("logdet %v, q %d; of the settings that it started from %v", *got.PPCA.LogDet, got.PPCA.Q, *c.PPCA.LogDet)
	}
	got, err = Variant{Name: "a", Classifier: "gptree-random", Set: map[string]any{"chains": 3}}.Settings(c)
	if err != nil || got.GPTree.Chains != 3 || got.GPTree.Kernel != c.GPTree.Kernel {
		t.Errorf("%+v, %v", got.GPTree, err)
	}
	if plain, err := Plain("ncm").Settings(c); err != nil || !reflect.DeepEqual(plain, c) {
		t.Errorf("%v", err)
	}
}

func TestVariantMistakes(t *testing.T) {
	for want, v := range map[string]Variant{
		"name":                   {Classifier: "ncm"},
		`cannot have "/"`:        {Name: "a/b", Classifier: "ncm"},
		"nor with a dot":         {Name: "..", Classifier: "ncm"},
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
