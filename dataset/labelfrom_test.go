package dataset

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// task is a task of Label Studio of a photo with some results.
func task(image string, results ...string) string {
	return `{"data":{"image":"` + image + `"},"annotations":[{"result":[` + strings.Join(results, ",") + `]}]}`
}

func chosen(group, kind, value string) string {
	return `{"from_name":"` + group + `","type":"` + kind + `","value":{"` + kind + `":` + value + `}}`
}

// TestLabelFrom: of several groups of choices, or fields, one has the classes; which is asked by name.
func TestLabelFrom(t *testing.T) {
	root := tree(t, map[string]string{"a.jpg": "", "st/b.jpg": "", "data/c.jpg": "", "data/d.jpg": ""})
	studio := "[" + task("/data/local-files/?d=ph%5Ca.jpg", chosen("species", "choices", `["fox"]`),
		chosen("quality", "choices", `["good"]`), chosen("note", "text", `["choices"]`)) + "," +
		task(`/data/local-files/?d=ph\\st\\b.jpg`, chosen("quality", "choices", `["bad"]`),
			chosen("species", "choices", `["deer"]`)) + "]"
	taxonomy := "[" + task("a.jpg", chosen("t", "taxonomy", `[["Animal","Fox"]]`)) + "," +
		task("st/b.jpg", chosen("t", "taxonomy", `[["Animal"],["Animal","Deer"]]`)) + "]"
	minimal := `[{"image":"a.jpg","t":[["Animal","Fox"]],"q":"good","id":1},{"image":"st/b.jpg",` +
		`"t":[["Animal","Deer"]],"q":"bad","id":2}]`
	table := "image,t,q\na.jpg,\"[[\"\"Animal\"\",\"\"Fox\"\"]]\",good\nst/b.jpg,,bad\n"
	fiftyOne := `{"name":"x","samples":[{"filepath":"/elsewhere/ph/st/b.jpg","tags":["train"],"ground_truth":{"_cls":` +
		`"Classification","label":"deer","confidence":null},"model":{"_cls":"Classification","label":"fox"}},` +
		`{"filepath":"C:\\ph\\data\\c.jpg","ground_truth":{"_cls":"Classifications","classifications":[` +
		`{"label":"fox"},{"label":"deer"}]},"model":null}]}`
	for name, c := range map[string]struct {
		text, from string
		classes    ClassFrom
		want       []string
		asks       string
	}{
		"asked":     {text: studio, asks: `the classes? Name one of "quality", "species"`},
		"species":   {text: studio, from: "species", want: []string{"a.jpg=fox", "st/b.jpg=deer"}},
		"QUALITY":   {text: studio, from: "QUALITY", want: []string{"a.jpg=good", "st/b.jpg=bad"}},
		"by number": {text: studio, from: "2", want: []string{"a.jpg=fox", "st/b.jpg=deer"}},
		"unknown":   {text: studio, from: "specie", asks: `did you mean "species"`},
		"folders":   {text: studio, classes: ClassFromLeaf, want: []string{"a.jpg=", "st/b.jpg=st"}},
		"taxonomy":  {text: taxonomy, want: []string{"a.jpg=Fox", "st/b.jpg=Animal;Deer"}},
		"taxonomy, path": {text: taxonomy, classes: ClassFromPath,
			want: []string{"a.jpg=Animal/Fox", "st/b.jpg=Animal;Animal/Deer"}},
		"taxonomy, top":  {text: taxonomy, classes: ClassFromTop, want: []string{"a.jpg=Animal", "st/b.jpg=Animal"}},
		"minimal":        {text: minimal, from: "t", want: []string{"a.jpg=Fox", "st/b.jpg=Deer"}},
		"minimal, asked": {text: minimal, asks: `Name one of "id", "image", "q", "t" with label-from`},
		"table":          {text: table, from: "t", want: []string{"a.jpg=Fox", "st/b.jpg="}},
		"FiftyOne": {text: fiftyOne, from: "ground_truth",
			want: []string{"data/c.jpg=deer;fox", "st/b.jpg=deer"}},
		"FiftyOne, asked": {text: fiftyOne, asks: `Name one of "ground_truth", "model", "path" with label-from`},
		"FiftyOne, classes": {text: `{"classes":["fox","deer"],"labels":{"c":0,"d":1}}`,
			want: []string{"data/c.jpg=fox", "data/d.jpg=deer"}},
		"FiftyOne, no classes": {text: `{"classes":null,"labels":{"c":null,"d":"elk"}}`,
			want: []string{"data/c.jpg=", "data/d.jpg=elk"}},
		"FiftyOne, several": {text: `{"classes":["fox","deer"],"labels":{"c":[0,1],"d":"elk"}}`,
			want: []string{"data/c.jpg=deer;fox", "data/d.jpg=elk"}},
	} {
		file := filepath.Join(t.TempDir(), "list")
		must.Do(t, os.WriteFile(file, []byte(c.text), 0o644))
		l, err := ReadList(file, root, ListOptions{LabelColumn: c.from, ClassFrom: c.classes})
		if column := (*ColumnError)(nil); c.asks != "" {
			if !errors.As(err, &column) || !strings.Contains(err.Error(), c.asks) {
				t.Errorf("%s: %v, want %q", name, err, c.asks)
			}
			continue
		}
		if err != nil || len(l.Problems) > 0 {
			t.Errorf("%s: %v %v", name, err, l.Problems)
			continue
		}
		var got []string
		for _, s := range l.Samples {
			got = append(got, s.Path+"="+cmp.Or(s.Label, s.Several))
		}
		wantEqual(t, name, got, c.want)
	}
}
