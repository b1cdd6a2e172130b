package advice_test

import (
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/model/advice"
)

func TestMisspelt(t *testing.T) {
	classes := []string{"Banana", "cat", "cut", "golden gate", "class001", "class002", "Bananna", "goldengate",
		"baanna", "Cat", "banana split"}
	got := advice.Misspelt(classes, classes[4:])
	want := []string{`"Bananna" beside "Banana"`, `"goldengate" beside "golden gate"`, `"baanna" beside "Bananna"`,
		`"Cat" beside "cat"`}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestMisspeltUnicode(t *testing.T) {
	got := advice.Misspelt([]string{"caf\u00e9", "cafe\u0301", "CAFE\u0301"}, []string{"cafe\u0301", "CAFE\u0301"})
	want := []string{`"cafe\u0301" beside "caf\u00e9", the same text in another Unicode form`,
		"\"CAFE\u0301\" beside \"caf\u00e9\""}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestNested(t *testing.T) {
	classes := []string{"Fruit", "Fruit/Apple", "Pear", "Trees/Old/Pear", "Kiwi", "Lime"}
	samples := []dataset.Sample{{Path: "Fruit/Kiwi/1.jpg", Label: "Kiwi"}, {Path: "Fruit/Kiwi/2.jpg", Label: "Kiwi"},
		{Path: "Lime/1.jpg", Label: "Lime"}}
	got := advice.Nested(classes, classes[1:], samples)
	want := []string{`"Fruit/Apple" beside "Fruit"`, `"Trees/Old/Pear" beside "Pear"`, `"Pear" beside "Trees/Old/Pear"`,
		`"Kiwi" has images in a folder "Fruit", another class`}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := advice.Nested(classes, []string{"Lime"}, samples); got != nil {
		t.Errorf("%q", got)
	}
}
