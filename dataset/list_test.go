package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func readList(t *testing.T, root, text string) (Listing, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "list.txt")
	must.Do(t, os.WriteFile(file, []byte(text), 0o644))
	return ReadList(file, root, ListOptions{})
}

func TestReadListForms(t *testing.T) {
	root := tree(t, map[string]string{"train/cat/a.jpg": "", "train/dog/b c.jpg": "", "top.jpg": "", "q\".jpg": ""})
	outside := filepath.Join(tree(t, map[string]string{"far/o.jpg": ""}), "far", "o.jpg")
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"plain": {"train/dog/b c.jpg\ntrain/cat/a.jpg",
			[]string{"train/cat/a.jpg=cat", "train/dog/b c.jpg=dog"}},
		"tab, CRLF": {"\xef\xbb\xbf# list\r\n\r\ntop.jpg\tx y\r\n./train/cat/a.jpg\t\r\n",
			[]string{"top.jpg=x y", "train/cat/a.jpg="}},
		"no folder": {"top.jpg\n", []string{"top.jpg="}},
		"absolute": {outside + "\n" + filepath.Join(root, "top.jpg"),
			[]string{filepath.ToSlash(outside) + "=far", "top.jpg="}},
		"csv": {"label,extra,path\nk,1,top.jpg\n# no\n\n\"a,b\",2,\"q\"\".jpg\"\n",
			[]string{"q\".jpg=a,b", "top.jpg=k"}},
		"csv, one":      {"path\ntrain/cat/a.jpg\n", []string{"train/cat/a.jpg=cat"}},
		"csv, BOM CRLF": {"\xef\xbb\xbf# c\r\npath,label\r\ntop.jpg,k\r\n", []string{"top.jpg=k"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := must.Get(readList(t, root, c.text))(t)
			wantEqual(t, "samples", brief(l), c.want)
			wantEqual(t, "problems", problems(l), nil)
		})
	}
}

func TestReadListSplitAndEscapedNames(t *testing.T) {
	root := tree(t, map[string]string{"caf\xe9.jpg": "", "a%FF.jpg": ""})
	l := must.Get(readList(t, root, "path,label,split,session\ncaf%E9.jpg,k,train,2\na%FF.jpg,k,test,1\n"))(t)
	wantEqual(t, "samples", l.Samples, []Sample{
		{Path: "a%FF.jpg", Label: "k", Split: "test", Session: "1"},
		{Path: "caf\xe9.jpg", Label: "k", Split: "train", Session: "2"},
	})
}

func TestReadListProblems(t *testing.T) {
	root := tree(t, map[string]string{"a.jpg": "", "e.jpg": "", "d/x.jpg": ""})
	l := must.Get(readList(t, root,
		"# head\na.jpg\tcat\ngone.jpg\n../up.jpg\nd\na.jpg\tdog\n./a.jpg\tcat\ne.jpg\tcat\n"+
			"./e.jpg\tcat\nnul\x00.jpg\n"))(t)
	wantEqual(t, "samples", brief(l), []string{"e.jpg=cat"})
	wantEqual(t, "problems", problems(l), []string{
		"line 4 of list.txt: ../up.jpg leads out of the image folder; give an absolute path if that is intended",
		`lines 2 and 6 of list.txt: listed as "cat" and as "dog"; left out, give it one label`,
		"line 5 of list.txt: d: not a regular file",
		"line 3 of list.txt: gone.jpg: file does not exist under " + root,
		"line 10 of list.txt: nul\x00.jpg: invalid argument",
	})
	if l.Skipped["repeated"] != 2 {
		t.Errorf("skipped %v", l.Skipped)
	}
}

func TestReadListErrors(t *testing.T) {
	root := tree(t, map[string]string{"a.jpg": ""})
	for text, want := range map[string]string{
		"":                                    "no images",
		"# only\n":                            "no images",
		"gone.jpg":                            "its only path does not exist",
		"gone.jpg\na.jpg/x.jpg":               "(2 lines have problems)",
		"{\"path\": \"a.jpg\"}\n{\"path\"\n":  "line 2 is not one JSON object",
		"path,label\na.jpg,B\xe4r\n":          "not UTF-8",
		"PAR1":                                "damaged Parquet file",
		"PK\x03\x04\x14\x00":                  "save the sheet as CSV",
		"\xd0\xcf\x11\xe0\xa1":                "save the sheet as CSV",
		"path,label\na.jpg\n":                 "wrong number of fields",
		"path,label\n\"a.jpg,x\n":             "quote",
		strings.Repeat("x", maxLineBytes+100): "line 1",
		"path,label\n" + strings.Repeat("x", maxLineBytes+100): "longer than",
	} {
		if _, err := readList(t, root, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30q: %v, want %q", text, err, want)
		}
	}
	if _, err := readList(t, filepath.Join(root, "gone"), "a.jpg"); !errors.Is(err, ErrNoRoot) {
		t.Error(err)
	}
}

// TestTables: tables as people have them are read without options, and what was
// guessed is said.
func TestTables(t *testing.T) {
	root := tree(t, map[string]string{"a/1.jpg": "", "b/2.jpg": "", "b/c d.jpg": "", "x,y.jpg": "", "masks/1.jpg": "",
		"masks/2.jpg": ""})
	both := []string{"a/1.jpg=cat", "b/2.jpg=dog"}
	for name, c := range map[string]struct {
		text    string
		opts    ListOptions
		want    []string
		guessed string
	}{
		"odd columns": {"Id,Species,Image,Width\n1,cat,a/1.jpg,9\n2,dog,b/2.jpg,9\n", ListOptions{}, both,
			`paths in column "Image", labels in column "Species"`},
		"Excel": {"\xef\xbb\xbfDatei;Art\r\n\"a\\1.jpg\";cat\r\nb\\2.jpg;\"dog\"\r\n", ListOptions{}, both,
			`paths in column "Datei", labels in column "Art"`},
		"tabs": {"image\tbreed\na/1.jpg\tcat\nb/2.jpg\tdog\n", ListOptions{}, both,
			`paths in column "image", labels in column "breed"`},
		"bars": {"file|tag\na/1.jpg|cat\nb/2.jpg|dog\n", ListOptions{}, both,
			`paths in column "file", labels in column "tag"`},
		"no suffix": {"id_code,diagnosis\na/1,cat\nb/2,dog\n", ListOptions{}, both,
			`paths in column "id_code", labels in column "diagnosis", paths end in .jpg`},
		"suffix": {"path,label\na/1,cat\nb/2.jpg,dog\n", ListOptions{PathSuffix: ".jpg"}, both, ""},
		"pandas": {",file,kind\n0,a/1.jpg,cat\n1,b/2.jpg,dog\n", ListOptions{}, both,
			`paths in column "file", labels in column "kind"`},
		"image and mask": {"mask,image,class\nmasks/1.jpg,a/1.jpg,cat\nmasks/2.jpg,b/2.jpg,dog\n", ListOptions{},
			both, `paths in column "image", labels in column "class"`},
		"photographer": {"mask,image,photo,class\nmasks/1.jpg,a/1.jpg,by Ann,cat\nmasks/2.jpg,b/2.jpg,by Ann,dog\n",
			ListOptions{}, both, `paths in column "image", labels in column "class"`},
		"named": {"x,y,Z\ndog,cat,a/1.jpg\ncat,dog,b/2.jpg\n",
			ListOptions{PathColumn: "z", LabelColumn: "y"}, both, ""},
		"other columns": {"path,width,height\na/1.jpg,9,9\n", ListOptions{ClassFrom: ClassFromTop},
			[]string{"a/1.jpg=a"}, "no column of labels: classes are folders"},
		"JSON lines": {`{"file": "a/1.jpg", "class": "cat", "box": [1]}` + "\n" +
			`{"class": "dog", "file": "b/2.jpg"}`, ListOptions{}, both,
			`paths in column "file", labels in column "class"`},
		"JSON numbers": {`{"path": "a/1.jpg", "label": 3}`, ListOptions{}, []string{"a/1.jpg=3"}, ""},
		"no header": {"a/1.jpg,cat\nb/2.jpg,dog\n", ListOptions{}, both,
			`no header, paths in column "1", labels in column "2"`},
		"no header, quoted": {"\"a/1.jpg\",\"c,t\"\n\"b/2.jpg\",dog\n", ListOptions{},
			[]string{"a/1.jpg=c,t", "b/2.jpg=dog"}, `no header, paths in column "1", labels in column "2"`},
		"label first": {"cat\ta/1.jpg\ndog\tb/2.jpg\n", ListOptions{}, both,
			`no header, paths in column "2", labels in column "1"`},
		"words": {"a/1.jpg cat\nb/c d.jpg big dog\n", ListOptions{},
			[]string{"a/1.jpg=cat", "b/c d.jpg=big dog"}, `no header, paths in column "1", labels in column "2"`},
		"numbered words": {"1 a/1 cat\n2 b/2 dog\n", ListOptions{PathColumn: "2", LabelColumn: "3"}, both,
			"no header, paths end in .jpg"},
		"spaces in names": {"b/c d.jpg\na/1.jpg\n", ListOptions{}, []string{"a/1.jpg=a", "b/c d.jpg=b"}, ""},
		"commas in names": {"x,y.jpg\na/1.jpg\n", ListOptions{ClassFrom: ClassFromPath},
			[]string{"a/1.jpg=a", "x,y.jpg="}, ""},
		"plain, no suffix": {"a/1\nb/2\n", ListOptions{}, []string{"a/1.jpg=a", "b/2.jpg=b"}, "the paths end in .jpg"},
		"errors.csv": {"path,error\na/1.jpg,broken\n", ListOptions{}, []string{"a/1.jpg=a"},
			"no column of labels: classes are folders"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "list")
			must.Do(t, os.WriteFile(file, []byte(c.text), 0o644))
			l := must.Get(ReadList(file, root, c.opts))(t)
			wantEqual(t, "samples", brief(l), c.want)
			wantEqual(t, "problems", problems(l), nil)
			if l.Guessed != c.guessed {
				t.Errorf("guessed %q, want %q", l.Guessed, c.guessed)
			}
		})
	}
}

// TestAmbiguousTables: what cannot be known is asked.
func TestAmbiguousTables(t *testing.T) {
	root := tree(t, map[string]string{"1.jpg": "", "2.jpg": ""})
	for text, c := range map[string]struct {
		opts ListOptions
		want string
	}{
		"Nr;Datei;Art\n7;x;cat\n8;y;dog\n": {ListOptions{},
			`paths? Name one of "Nr", "Datei", "Art" with path-column`},
		"left,right,label\n1.jpg,2.jpg,cat\n": {ListOptions{},
			`paths? Name one of "left", "right", "label" with path-column`},
		"path,colour,size\n1.jpg,red,big\n": {ListOptions{},
			`labels? Name one of "path", "colour", "size" with label-from`},
		"path,species,class\n1.jpg,canis,dog\n": {ListOptions{}, "label-from"},
		"path,colour\n1.jpg,red\n": {ListOptions{LabelColumn: "colur"},
			`did you mean "colour"? The columns are "path", "colour"`},
		"1.jpg,red\n2.jpg,blue\n": {ListOptions{LabelColumn: "3"},
			`label-from 3: no such column. The columns are "1", "2"`},
		"{\"path\": \"1.jpg\", \"a\": 1, \"b\": 2}": {ListOptions{}, `"a", "b", "path" with label-from`},
	} {
		file := filepath.Join(t.TempDir(), "list")
		must.Do(t, os.WriteFile(file, []byte(text), 0o644))
		var column *ColumnError
		if _, err := ReadList(file, root, c.opts); !errors.As(err, &column) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", text, err, c.want)
		}
		c.opts.LabelsOptional = true
		if _, err := ReadList(file, root, c.opts); (err == nil) != strings.Contains(c.want, "with label-from") &&
			!strings.HasPrefix(c.want, "label-from") {
			t.Errorf("%q, labels optional: %v", text, err)
		}
	}
}

// TestNoneExists: a list that does not fit the folder is an error that says where
// its files are.
func TestNoneExists(t *testing.T) {
	top := tree(t, map[string]string{"photos/train/cat/a.jpg": "", "photos/train/dog/b.png": "", "empty/x.txt": ""})
	root := filepath.Join(top, "photos")
	for text, c := range map[string]struct{ root, want string }{
		"cat/a.jpg\ncat/z.jpg\n": {root, "none of its 2 paths exists; the first is looked for at " + root +
			"/cat/a.jpg, but it is " + root + "/train/cat/a.jpg: give images " + root + "/train"},
		"train/cat/a.jpg\n": {root + "/train", "its only path does not exist; the first is looked for at " +
			root + "/train/train/cat/a.jpg, but it is " + root + "/train/cat/a.jpg: give images " + root},
		"C:\\My\\train\\cat\\a.jpg\n": {root, "the nearest file is " + root + "/train/cat/a.jpg"},
		"path,label\nA.jpeg,x\n":      {root, "the nearest file is " + root + "/train/cat/a.jpg"},
		"nothing-like-it.jpg":         {root, "the nearest file is " + root + "/train/cat/a.jpg"},
		"a.jpg":                       {top + "/empty", "there are no images in " + top + "/empty"},
	} {
		if l, err := readList(t, c.root, text); err == nil || errors.Is(err, ErrNoImages) ||
			!strings.Contains(err.Error(), c.want) || len(l.Problems) == 0 {
			t.Errorf("%q: %v, want %q", text, err, c.want)
		}
	}
}

type parquetRow struct {
	File  string   `parquet:"file"`
	Kind  *string  `parquet:"kind,optional,dict"`
	Stars int32    `parquet:"stars"`
	Tags  []string `parquet:"tags"`
	Image []byte   `parquet:"image"`
}

// parquetFile has the given number of rows per row group.
func parquetFile(t testing.TB, group int64, rows ...parquetRow) []byte {
	t.Helper()
	return parquetOf(t, rows, parquet.MaxRowsPerRowGroup(group))
}

func TestReadParquet(t *testing.T) {
	if testing.Short() {
		t.Skip("it does everything in one goroutine")
	}
	files, want := map[string]string{}, []string{}
	var rows []parquetRow
	cat := "cat"
	for i := range 300 {
		row := parquetRow{File: fmt.Sprintf("%03d.jpg", i), Stars: int32(i % 5), Tags: []string{"x", "y"},
			Image: make([]byte, 2*maxCellBytes)}
		if i%3 > 0 {
			row.Kind = &cat
		}
		rows, want = append(rows, row), append(want, row.File+"="+map[bool]string{true: cat}[i%3 > 0])
		files[row.File] = ""
	}
	root := tree(t, files)
	text := string(parquetFile(t, 128, rows...))
	if _, err := readList(t, root, text); err == nil ||
		!strings.Contains(err.Error(), `"file", "kind", "stars", "image"`) {
		t.Error(err)
	}
	file := filepath.Join(t.TempDir(), "list.parquet")
	must.Do(t, os.WriteFile(file, []byte(text), 0o644))
	l, err := ReadList(file, root, ListOptions{LabelColumn: "kind"})
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "samples", brief(l), want)
	l, err = ReadList(file, root, ListOptions{LabelColumn: "stars"})
	if err != nil || l.Samples[7].Label != "2" {
		t.Errorf("%v, %v", l.Samples[7], err)
	}
	must.Do(t, os.Remove(filepath.Join(root, "007.jpg")))
	if l, err = ReadList(file, root, ListOptions{LabelColumn: "kind"}); err != nil ||
		!strings.HasPrefix(l.Problems[0].Err.Error(), "row 8 of list.parquet") {
		t.Errorf("%v, %v", l.Problems, err)
	}
}

// parseText reads a list of which the images exist that images names.
func parseText(text []byte, opts ListOptions) (rows []listRow, err error) {
	g := guesser{opts, func(cell, suffix string) bool { return isImageName(cell + suffix) }, "", ""}
	err = eachListed(bytes.NewReader(text), int64(len(text)), g, func(row listRow) error {
		rows = append(rows, row)
		return nil
	})
	return rows, err
}

func FuzzReadList(f *testing.F) {
	for _, s := range []string{
		"a.jpg\tcat\r\n", "path,label\n\"x\ny\",2\n", "\xef\xbb\xbf#\npath\n1\n", "label,path\n,\n#\n\n\"\"\"\",a",
		strings.Repeat("#", 70000) + "\npath,session\na,b\n",
		"{\"path\": \"a\", \"label\": 1e9}\n{}\n", "a.jpg cat\nb c.jpg d\n", "x;y\na.jpg;1\n", "id|file\n1|a\n",
		"\"a\"\tb\n",
	} {
		f.Add([]byte(s), "", "")
	}
	f.Add([]byte("observationID,mediaID,observationTags\n1,a.jpg,class:x\n"), "", "")
	f.Add([]byte("mediaID;observationID\na.jpg\n"), "2", "")
	f.Add(parquetFile(f, 1, parquetRow{File: "a.jpg", Tags: []string{"x"}}, parquetRow{}), "file", "2")
	f.Fuzz(func(t *testing.T, text []byte, path, label string) {
		rows, err := parseText(text, ListOptions{PathColumn: path, LabelColumn: label})
		if err != nil {
			return
		}
		last := 0
		for _, r := range rows {
			ends := bytes.Count(text, []byte("\n")) + bytes.Count(text, []byte("\r"))
			if r.sample.Path == "" || r.number <= last || r.unit == "line" && r.number > ends+1 {
				t.Fatalf("row %+v after %d", r, last)
			}
			last = r.number
		}
	})
}
