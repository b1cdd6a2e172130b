package suggest

import "testing"

func TestNearest(t *testing.T) {
	methods := []string{"gpr", "gptree", "hppca", "lda", "ncm", "plda", "ppca-online", "sbm"}
	for name, want := range map[string]string{
		"foo": "", "RanPAC": "", "nmc": "ncm", "NCM": "ncm", "hpcca": "hppca", "ppca-onlin": "ppca-online",
		"ppca": "hppca", "x": "",
		"": "", "gpt": "gpr", "ppca-": "ppca-online",
	} {
		if got := Nearest(name, methods); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	commands := []string{"embed", "train", "label"}
	for name, want := range map[string]string{"trian": "train", "lable": "label", "emb": "embed", "em": ""} {
		if got := Nearest(name, commands); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if got := Hint("Bananas", []string{"Apple", "Banana"}); got != `; did you mean "Banana"?` {
		t.Error(got)
	}
	if got := Hint("Car", []string{"Apple"}); got != "" {
		t.Error(got)
	}
}
