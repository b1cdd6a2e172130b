package dataset_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func described(t testing.TB, text string) ([]dataset.Description, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "names.txt")
	must.Do(t, os.WriteFile(file, []byte(text), 0o644))
	return dataset.ReadDescriptions(file)
}

func TestReadDescriptions(t *testing.T) {
	type d = dataset.Description
	for _, c := range []struct {
		text string
		want []d
	}{
		{"cat\n dog \n\n#1 panda\ncat\n", []d{{Class: "cat"}, {Class: "dog"}, {Class: "#1 panda"}}},
		{"\xef\xbb\xbfcat\r\ndog", []d{{Class: "cat"}, {Class: "dog"}}},
		{"cat\rdog", []d{{Class: "cat"}, {Class: "dog"}}},
		{"\xff\xfec\x00a\x00t\x00\n\x00\xe9\x00", []d{{Class: "cat"}, {Class: "é"}}},
		{"cat, domestic\nlion", []d{{Class: "cat, domestic"}, {Class: "lion"}}},
		{"class,text\ncat,\"a cat, asleep\"\ncat,a kitten\ndog,\ncat,a kitten\n",
			[]d{{Class: "cat", Text: "a cat, asleep"}, {Class: "cat", Text: "a kitten"}, {Class: "dog"}}},
		{"id;Text;Class\n1;a cat;cat\n", []d{{Class: "cat", Text: "a cat"}}},
		{"class\ttext\ncat\ta \"cat\" here\n", []d{{Class: "cat", Text: `a "cat" here`}}},
		{"sep=|\nclass|text\ncat|a cat\n", []d{{Class: "cat", Text: "a cat"}}},
		{"class\ncat\n", []d{{Class: "cat"}}},
		{"e\u0301\n", []d{{Class: "é"}}},
	} {
		if got, err := described(t, c.text); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, %v; want %q", c.text, got, err, c.want)
		}
	}
	for text, says := range map[string]string{
		"": "there are no classes", "class,text\n": "there are no classes", "class,text\n,a cat\n": "line 2",
		"caf\xe9\n": `it means "café`, "class,text\na,b,c\n": "wrong number of fields", "PK\x03\x04": "workbook",
	} {
		if got, err := described(t, text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %q, error %v, want one with %q", text, got, err, says)
		}
	}
	if _, err := dataset.ReadDescriptions(t.TempDir()); err == nil {
		t.Error("a folder is read")
	}
}

func FuzzReadDescriptions(f *testing.F) {
	f.Add("cat\ndog")
	f.Add("class;text\n\"a;b")
	f.Add("sep=,\nclass")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := described(t, text)
		if err != nil {
			return
		}
		for _, one := range all {
			if one.Class == "" || strings.ContainsAny(one.Class, "\n") && !strings.Contains(text, `"`) {
				t.Errorf("class %q", one.Class)
			}
		}
	})
}
