package wording

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func TestName(t *testing.T) {
	for class, want := range map[string]string{
		"golden_retriever":           "golden retriever",
		"007-Golden-Retriever":       "Golden Retriever",
		"001.Black_footed_Albatross": "Black footed Albatross",
		"n02099601_golden":           "golden",
		"n02099601-golden_retriever": "golden retriever",
		"n02099601":                  "n02099601",
		"GoldenRetriever":            "Golden Retriever",
		"redFox":                     "red Fox",
		"BMWCar":                     "BMW Car",
		"McDonald":                   "McDonald",
		"iPhone":                     "iPhone",
		"Fruit/Apple/Gala":           "Gala",
		`Fruit\Granny-Smith`:         "Granny Smith",
		"t-shirt":                    "t-shirt",
		"Boeing_707":                 "Boeing 707",
		"707-320":                    "707-320",
		"A300B4":                     "A300B4",
		"F-16A/B":                    "F-16A/B",
		"12_dog":                     "dog",
		"3-wheeler":                  "3-wheeler",
		"  cat ":                     "cat",
		"#1 panda":                   "#1 panda",
		"ÉtoileDeMer":                "Étoile DeMer",
		"狐":                          "狐",
		"2024":                       "2024",
		"-":                          "-",
		"___":                        "___",
		"":                           "",
		"dog/":                       "dog",
		"/":                          "/",
	} {
		if got := readable(class); got != want {
			t.Errorf("%q: %q, want %q", class, got, want)
		}
	}
}

func TestSentences(t *testing.T) {
	classes, texts := must.Get2(Templates{"a {}.", "the {}"}.Sentences(
		[]dataset.Description{{Class: "red_fox"}, {Class: "cat", Text: "a kitten"}, {Class: "{}"}}))(t)
	if want := []string{"red_fox", "red_fox", "cat", "{}", "{}"}; !slices.Equal(classes, want) {
		t.Errorf("classes %q, want %q", classes, want)
	}
	if want := []string{"a red fox.", "the red fox", "a kitten", "a {}.", "the {}"}; !slices.Equal(texts, want) {
		t.Errorf("texts %q, want %q", texts, want)
	}
	if _, _, err := DefaultTemplates().Sentences(make([]dataset.Description, 1<<20)); err == nil {
		t.Error("a million classes with seven templates each are taken")
	}
}

func TestTemplates(t *testing.T) {
	if err := DefaultTemplates().Validate(); err != nil || DefaultTemplates()[0] != "a photo of a {}." {
		t.Error(err)
	}
	for says, bad := range map[string]Templates{
		"there are 0": {}, "does not have {} once": {"a {}", "a photo"}, "once": {"{} {}"},
		"1003 bytes": {strings.Repeat("a", 1001) + "{}"},
	} {
		if err := bad.Validate(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want one with %q", err, says)
		}
	}
}

// FuzzName: a name that is cleaned stays so, and is never empty if the class is not.
func FuzzName(f *testing.F) {
	for _, class := range []string{"007-Golden-Retriever", "n02099601_golden", "a/b\\C_d", "__", "12_0012-x"} {
		f.Add(class)
	}
	f.Fuzz(func(t *testing.T, class string) {
		name := readable(class)
		if name == "" && class != "" || utf8.ValidString(class) && !utf8.ValidString(name) {
			t.Errorf("%q: %q", class, name)
		}
		if strings.ContainsAny(name, "_") && name != class {
			t.Errorf("%q: %q", class, name)
		}
	})
}
