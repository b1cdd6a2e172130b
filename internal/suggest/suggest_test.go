package suggest

import (
	"strings"
	"testing"
)

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

// TestLongNamesCostNothing: a name may come from a file, and be as long as that.
func TestLongNamesCostNothing(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	if got := Nearest(long, []string{long + "y", "xx"}); got != long+"y" { // by its beginning
		t.Errorf("%d letters", len(got))
	}
	if got := Nearest("x"+long, []string{"y" + long}); got != "" {
		t.Errorf("%d letters", len(got))
	}
}
