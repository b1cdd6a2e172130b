package dataset

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/shared"
)

func utf16Of(text string, big bool) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(text)) {
		pair := []byte{byte(u), byte(u >> 8)}
		if big {
			slices.Reverse(pair)
		}
		b.Write(pair)
	}
	return b.String()
}

// TestListsOfOtherPrograms: what spreadsheets and annotation tools write is read.
func TestListsOfOtherPrograms(t *testing.T) {
	root := tree(t, map[string]string{
		"1.jpg": "", "2.jpg": "", "sub/caf\xe9.jpg": "", "sub/1.jpg": "", "#3 x/a.jpg": "", "-4.jpg": "", "'-4.jpg": "",
	})
	both := []string{"1.jpg=cat", "2.jpg=dog"}
	csvText := "path,label\r\n1.jpg,cat\r\n2.jpg,dog\r\n"
	const task = `{"data": {"image": "/data/upload/3/0a1b2c3d-1.jpg"}, "annotations": [%], "predictions": ` +
		`[{"result": [{"value": {"choices": ["bird"]}}]}]}`
	annotation := func(label string) string {
		return `{"result": [{"type": "choices", "value": {"choices": ["` + label + `"]}}]}`
	}
	tasks := func(annotations ...string) string {
		return "[" + strings.Replace(task, "%", strings.Join(annotations, ","), 1) + "]"
	}
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"sep=":                  {"sep=;\r\npath;label\r\n1.jpg;cat\r\n2.jpg;dog\r\n", both},
		"sep= of tabs":          {"\xef\xbb\xbfSEP=\t\npath\tlabel\n1.jpg\tcat\n2.jpg\tdog\n", both},
		"sep=, quoted":          {"\"sep=,\"\n1.jpg,cat\n2.jpg,dog\n", both},
		"decimal commas":        {"path;label;p\n1.jpg;cat;0,93\n2.jpg;dog;0,5\n", both},
		"CR only":               {strings.ReplaceAll(csvText, "\r\n", "\r"), both},
		"CR CR LF":              {strings.ReplaceAll(csvText, "\r", "\r\r"), both},
		"a JSON object":         {`{"1.jpg": "cat", "2.jpg": "dog"}`, both},
		"UTF-16, BOM":           {"\xff\xfe" + utf16Of(csvText, false), both},
		"UTF-16, big-endian":    {"\xfe\xff" + utf16Of(csvText, true), both},
		"UTF-16 without a mark": {utf16Of(csvText, false), both},
		"UTF-16, Excel's tabs": {"\xff\xfe" + utf16Of("path\tlabel\r\n1.jpg\tñandú\r\n", false),
			[]string{"1.jpg=ñandú"}},
		"paths in Windows-1252": {"path,label\nsub/caf\xe9.jpg,cat\n", []string{"sub/caf\xe9.jpg=cat"}},
		"# in paths and labels": {"path,label\n#3 x/a.jpg,#1 panda\n1.jpg,#2\n",
			[]string{"#3 x/a.jpg=#1 panda", "1.jpg=#2"}},
		"# first of a table": {"# my photos\npath,label\n1.jpg,cat\n# more, of, these\n2.jpg,dog\n", both},
		"# in all lines":     {"#3 x/a.jpg\n", []string{"#3 x/a.jpg=#3 x"}},
		"# in plain lines":   {"# note\n#3 x/a.jpg\n", []string{"#3 x/a.jpg=#3 x"}},
		"formulas":           {"path,label\n'-4.jpg,'-\n1.jpg,''+x\n", []string{"-4.jpg=-", "1.jpg='+x"}},
		"JSON array":         {`[{"path": "1.jpg", "label": "cat"}, {"path": "2.jpg", "label": "dog"}]`, both},
		"JSON array, spread": {"\n[\n {\n  \"file\": \"1.jpg\",\n  \"class\": \"cat\"\n }\n]\n",
			[]string{"1.jpg=cat"}},
		"Label Studio":     {tasks(annotation("cat")), []string{"1.jpg=cat"}},
		"predictions only": {tasks(), []string{"1.jpg="}},
		"cancelled": {tasks(`{"was_cancelled": true, "result": [{"value": {"choices": ["dog"]}}]}`),
			[]string{"1.jpg="}},
		"of two people": {tasks(annotation("cat"), annotation("cat")), []string{"1.jpg=cat"}},
		"Label Studio, small": {`[{"image": "/data/upload/1/abcd-1.jpg", "id": 1, "choice": "cat", "lead_time": 2.5}]`,
			[]string{"1.jpg=cat"}},
		"Label Studio, CSV": {"image,id,choice,lead_time\n/data/upload/abcd-1.jpg,0,cat,2.5\n" +
			"/data/local-files/?d=x/2.jpg,1,dog,1\n", both},
		"addresses": {"image,choice\nhttps://example.org/a/sub/1.jpg,cat\ns3://bucket/2.jpg,dog\n",
			[]string{"2.jpg=dog", "sub/1.jpg=cat"}},
		"COCO": {`{"images": [{"id": 1, "file_name": "1.jpg"}, {"id": 2, "file_name": "2.jpg"}], "annotations": ` +
			`[{"image_id": 1, "category_id": 7}, {"image_id": 1, "category_id": 7}], ` +
			`"categories": [{"id": 7, "name": "cat"}]}`,
			[]string{"1.jpg=cat", "2.jpg="}},
		"Camtrap DP": {"observationID,mediaID,observationType,scientificName,observationTags\n1,1.jpg,animal,cat,\n" +
			"2,2.jpg,human,,a | class:lynx\n3,,animal,of an event,\n4,sub/1.jpg,blank,,\n5,#3 x/a.jpg,unknown,,\n",
			[]string{"#3 x/a.jpg=", "1.jpg=cat", "2.jpg=lynx", "sub/1.jpg=blank"}},
		"CVAT": {`<?xml version="1.0"?><annotations><image id="0" name="1.jpg">` +
			`<tag label="cat"/><box label="x"/></image>` +
			`<image name="2.jpg"><box label="dog"/></image></annotations>`, both},
	} {
		l, err := readList(t, root, c.text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		wantEqual(t, name, brief(l), c.want)
		wantEqual(t, name+", problems", problems(l), nil)
	}
}

// TestListsThatContradictThemselves: a photo of two classes is left out and said.
func TestListsThatContradictThemselves(t *testing.T) {
	root := tree(t, map[string]string{"1.jpg": "", "2.jpg": ""})
	for name, text := range map[string]string{
		"two people": `[{"data": {"image": "1.jpg"}, "annotations": [{"result": [{"value": {"choices": ["cat"]}}]}, ` +
			`{"result": [{"value": {"choices": ["dog"]}}]}]}, {"data": {"image": "2.jpg"}, "annotations": []}]`,
		"two rows": "path,label,by\n1.jpg,cat,person\n1.jpg,dog,person\n2.jpg,,\n",
		"several":  "path,label,by\n1.jpg,cat,person\n1.jpg,dog;owl,person\n2.jpg,,\n",
	} {
		l, err := readList(t, root, text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		wantEqual(t, name, brief(l), []string{"2.jpg="})
		if p := problems(l); len(p) != 1 || !strings.Contains(p[0], `listed as "cat" and as "dog`) {
			t.Errorf("%s: problems %q", name, p)
		}
	}
}

// TestSeveralThings: where a list names several things in a photo, none is its class; all forms
// say the same.
func TestSeveralThings(t *testing.T) {
	root := tree(t, map[string]string{"1.jpg": "", "2.jpg": ""})
	for name, text := range map[string]string{
		"annotation": `[{"data": {"image": "1.jpg"}, "annotations": [{"result": [{"value": ` +
			`{"choices": ["dog", "a;b"]}}]}]}, {"data": {"image": "2.jpg"}, "annotations": []}]`,
		"choices":    "image,choice\n1.jpg,\"{\"\"choices\"\": [\"\"a;b\"\", \"\"dog\"\"]}\"\n2.jpg,\n",
		"labels.csv": "path,label,by\n1.jpg,a%3Bb;dog,person\n2.jpg,,\n",
		"JSON lines": `{"file_name": "1.jpg", "label": "", "labels": ["dog", "a;b"], "by": "person"}` + "\n" +
			`{"file_name": "2.jpg", "label": "", "labels": [], "by": ""}` + "\n",
		"COCO": `{"images": [{"id": 1, "file_name": "1.jpg"}, {"id": 2, "file_name": "2.jpg"}], "annotations": ` +
			`[{"image_id": 1, "category_id": 7}, {"image_id": 1, "category_id": 8}], ` +
			`"categories": [{"id": 7, "name": "dog"}, {"id": 8, "name": "a;b"}]}`,
		"CVAT": `<?xml version="1.0"?><annotations><image name="1.jpg"><tag label="dog"/><tag label="a;b"/></image>` +
			`<image name="2.jpg"></image></annotations>`,
		"Camtrap DP": "observationID,mediaID,observationType,scientificName\n1,1.jpg,animal,dog\n2,2.jpg,unknown,\n" +
			"3,1.jpg,animal,a;b\n4,1.jpg,animal,dog\n",
	} {
		l, err := readList(t, root, text)
		if err != nil || len(l.Problems) > 0 || len(l.Samples) != 2 {
			t.Errorf("%s: %+v %v", name, l, err)
			continue
		}
		if s := l.Samples[0]; s.Label != "" || s.Several != "a%3Bb;dog" || l.Samples[1].Several != "" {
			t.Errorf("%s: %+v", name, l.Samples)
		}
	}
}

// TestOwnLabels: what the program said itself is no label where only decisions count, unless a
// person has corrected it.
func TestOwnLabels(t *testing.T) {
	root := tree(t, map[string]string{"1.jpg": "", "2.jpg": "", "3.jpg": "", "4.jpg": "", "5.jpg": ""})
	own := func(cat, dog string) string {
		return `1.jpg,cat,0.9,` + cat + `,` + "\n" + `2.jpg,dog,0.9,` + cat + `,` + "\n" + `3.jpg,cat,0.9,` + cat +
			`,bulk` + "\n" + `4.jpg,cat,0.9,` + cat + `,person` + "\n" + `5.jpg,a%3Bb,0.9,` + dog + `,` + "\n"
	}
	csv := "path,label,probability,top_k,by\n" + own(`"[[""cat"",0.9]]"`, `"[[""a;b"",0.9]]"`)
	coco := `{"images": [{"id": 1, "file_name": "1.jpg"}, {"id": 2, "file_name": "2.jpg"}], "annotations": ` +
		`[{"image_id": 1, "category_id": 7, "by": ""}, {"image_id": 2, "category_id": 7, "by": "list"}], ` +
		`"categories": [{"id": 7, "name": "cat"}]}`
	observations := "observationID,mediaID,observationType,scientificName,classificationMethod\n" +
		"1,1.jpg,animal,cat,machine\n2,2.jpg,animal,cat,human\n"
	both := `{"images": [{"id": 1, "file_name": "1.jpg"}, {"id": 2, "file_name": "2.jpg"}], "annotations": ` +
		`[{"image_id": 1, "category_id": 7, "by": "person"}, {"image_id": 1, "category_id": 8, "by": ""}, ` +
		`{"image_id": 2, "category_id": 8, "by": ""}, {"image_id": 2, "category_id": 7, "by": "person"}], ` +
		`"categories": [{"id": 7, "name": "cat"}, {"id": 8, "name": "dog"}]}`
	for _, c := range []struct {
		text      string
		want      []string
		predicted int
	}{
		{csv, []string{"1.jpg=", "2.jpg=dog", "3.jpg=", "4.jpg=cat", "5.jpg="}, 3},
		{strings.ReplaceAll(csv, "probability", "sure"), // another program's
			[]string{"1.jpg=cat", "2.jpg=dog", "3.jpg=cat", "4.jpg=cat", "5.jpg=a;b"}, 0},
		{`{"path": "1.jpg", "label": "cat", "probability": 1, "top_k": [["cat", 1]], "by": ""}` + "\n" +
			`{"path": "2.jpg", "label": "dog", "probability": 1, "top_k": [["cat", 1]], "by": ""}` + "\n",
			[]string{"1.jpg=", "2.jpg=dog"}, 1},
		{"path,label,by,probability\n1.jpg,cat,,0.9\n2.jpg,cat,person,0.9\n", []string{"1.jpg=", "2.jpg=cat"}, 1},
		{coco, []string{"1.jpg=", "2.jpg=cat"}, 1},
		{observations, []string{"1.jpg=", "2.jpg=cat"}, 1},
		// of one photo a person named a thing, and the program another
		{both, []string{"1.jpg=cat", "2.jpg=cat"}, 2},
		{observations + "3,1.jpg,animal,dog,human\n4,2.jpg,animal,dog,machine\n",
			[]string{"1.jpg=dog", "2.jpg=cat"}, 2},
	} {
		list := filepath.Join(t.TempDir(), "list")
		must.Do(t, os.WriteFile(list, []byte(c.text), 0o644))
		l, err := ReadList(list, root, ListOptions{Decided: true})
		if err != nil || l.Predicted != c.predicted {
			t.Errorf("%d labels are predicted, want %d: %v\n%s", l.Predicted, c.predicted, err, c.text)
		}
		wantEqual(t, c.text, brief(l), c.want)
	}
}

// FuzzJoinedLabels: labels that are written as one cell are found again.
func FuzzJoinedLabels(f *testing.F) {
	f.Add("Fox", "Owl")
	f.Add("a;b", "a%3Bb")
	f.Add("%25253B;", "%253B%3b")
	f.Fuzz(func(t *testing.T, a, b string) {
		if a == "" || b == "" {
			return
		}
		want := []string{a, b}
		slices.Sort(want)
		got := SplitLabels(JoinLabels(a, b))
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%q are read as %q", want, got)
		}
	})
}

func TestListsThatAreRefused(t *testing.T) {
	root := tree(t, map[string]string{"1.jpg": ""})
	for text, want := range map[string]string{
		"path,label\n1.jpg,panda\xe9\n":                    `if it means "pandaé", the list is in Windows-1252`,
		"path,label\n1.jpg,panda\xe9\r\n":                  "iconv -f WINDOWS-1252",
		"sep=;\npath;label\n1.jpg;cat;more\n":              "line 3: wrong number of fields",
		"sep=;\npath;label\n\"1.jpg;cat\n":                 "line 3",
		"<html></html>":                                    "not CVAT's",
		`{"images": [{"id": 1}], "annotations": []}`:       "no file_name",
		`[{"path": "1.jpg"`:                                "not a JSON array of records",
		`{"path": "1.jpg", "label": "cat", "p": NaN}`:      "NaN, which Python writes",
		"path,label\n5\" pot.jpg,pot\n":                    "double those inside",
		"\xff\xfe" + utf16Of("path,label\n1.jpg\n", false): "read as UTF-16",
	} {
		if _, err := readList(t, root, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30q: %v, want %q", text, err, want)
		}
	}
}

// TestCasesOfLists: the lists of the reports give six photos of two classes.
func TestCasesOfLists(t *testing.T) {
	for list, want := range map[string]string{
		"21-excel-sep-line/list.csv": "panda", "22-encodings/utf16_tab.csv": "panda",
		"22-encodings/bom_crlf.csv":    "panda",
		"22-encodings/mac_cr_only.csv": "panda", "23-labelstudio-export/records.json": "panda",
		"23-labelstudio-export/export.json": "panda", "23-labelstudio-export/export_min.csv": "panda",
	} {
		file := shared.Path(t, "cases", filepath.FromSlash(list))
		l, err := ReadList(file, filepath.Join(filepath.Dir(file), "photos"), ListOptions{})
		if err != nil || len(l.Samples) != 6 || l.Samples[0].Label != want || l.Samples[5].Label != "pizza" {
			t.Errorf("%s: %v %v", list, brief(l), err)
		}
	}
	file := shared.Path(t, "cases", "22-encodings", "cp1252.csv")
	if _, err := ReadList(file, filepath.Join(filepath.Dir(file), "photos"), ListOptions{}); err == nil ||
		!strings.Contains(err.Error(), `"pandaé"`) {
		t.Errorf("cp1252.csv: %v", err)
	}
}

// FuzzTableRoundTrip: names that the program writes into a table are read back as the
// same names, as labels (in one Unicode form) and as paths.
func FuzzTableRoundTrip(f *testing.F) {
	for _, name := range []string{
		"-", "+plus", "@home", "#1 panda", "'-", "''=x", "caf\xe9", "caf%E9", "100%25", " x ", "a,b;c\td",
		"line\nfeed", "car\r\nriage", `"q"`, "sep=;", "path", "\ufeffx", "\\.", "\t", "\r", "\uf9ff",
	} {
		f.Add(name, ',')
		f.Add(name, ';')
	}
	f.Fuzz(func(t *testing.T, name string, separator rune) {
		if name == "" || strings.HasPrefix(EscapePath(name), `{"choices"`) ||
			!strings.ContainsRune(",;\t|", separator) {
			return
		}
		cell := SafeCell(EscapePath(name))
		var out bytes.Buffer
		w := csv.NewWriter(&out)
		w.Comma = separator
		for _, row := range [][]string{{"path", "label"}, {cell, cell}, {"b.jpg", "b"}} {
			_ = w.Write(row) // into memory
		}
		w.Flush()
		var got []Sample
		in := out.Bytes()
		g := guesser{ListOptions{}, func(string, string) bool { return false }, "", ""}
		err := eachListed(bytes.NewReader(in), int64(len(in)), g, func(r listRow) error {
			got = append(got, r.sample)
			return nil
		})
		if err != nil || len(got) != 2 {
			t.Fatalf("%q: %d rows, %v, from %q", name, len(got), err, in)
		}
		if path := UnescapePath(plainCell(got[0].Path)); got[0].Label != spelled(name) || path != name {
			t.Fatalf("%q is read as label %q and path %q", name, got[0].Label, path)
		}
	})
}
