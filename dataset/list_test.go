package dataset

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func readList(t *testing.T, root, text string) (Listing, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "list.txt")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return ReadList(file, root)
}

func TestReadListForms(t *testing.T) {
	root := tree(t, map[string]string{"train/cat/a.jpg": "", "train/dog/b c.jpg": "", "top.jpg": "", "q\".jpg": ""})
	outside := filepath.Join(tree(t, map[string]string{"far/o.jpg": ""}), "far", "o.jpg")
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"plain":         {"train/dog/b c.jpg\ntrain/cat/a.jpg", []string{"train/cat/a.jpg=cat", "train/dog/b c.jpg=dog"}},
		"tab, CRLF":     {"\xef\xbb\xbf# list\r\n\r\ntop.jpg\tx y\r\n./train/cat/a.jpg\t\r\n", []string{"top.jpg=x y", "train/cat/a.jpg="}},
		"no folder":     {"top.jpg\n", []string{"top.jpg="}},
		"absolute":      {outside + "\n" + filepath.Join(root, "top.jpg"), []string{filepath.ToSlash(outside) + "=far", "top.jpg="}},
		"csv":           {"label,extra,path\nk,1,top.jpg\n# no\n\n\"a,b\",2,\"q\"\".jpg\"\n", []string{"q\".jpg=a,b", "top.jpg=k"}},
		"csv, one":      {"path\ntrain/cat/a.jpg\n", []string{"train/cat/a.jpg=cat"}},
		"csv, BOM CRLF": {"\xef\xbb\xbf# c\r\npath,label\r\ntop.jpg,k\r\n", []string{"top.jpg=k"}},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := readList(t, root, c.text)
			if err != nil {
				t.Fatal(err)
			}
			wantEqual(t, "samples", brief(l), c.want)
			wantEqual(t, "problems", problems(l), nil)
		})
	}
}

func TestReadListSplitAndEscapedNames(t *testing.T) {
	root := tree(t, map[string]string{"caf\xe9.jpg": "", "a%FF.jpg": ""})
	l, err := readList(t, root, "path,label,split,session\ncaf%E9.jpg,k,train,2\na%FF.jpg,k,test,1\n")
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "samples", l.Samples, []Sample{
		{Path: "a%FF.jpg", Label: "k", Split: "test", Session: "1"},
		{Path: "caf\xe9.jpg", Label: "k", Split: "train", Session: "2"},
	})
}

func TestReadListProblems(t *testing.T) {
	root := tree(t, map[string]string{"a.jpg": "", "e.jpg": "", "d/x.jpg": ""})
	l, err := readList(t, root, "# head\na.jpg\tcat\ngone.jpg\n../up.jpg\nd\na.jpg\tdog\n./a.jpg\tcat\ne.jpg\tcat\n./e.jpg\tcat\nnul\x00.jpg\n")
	if err != nil {
		t.Fatal(err)
	}
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
		"gone.jpg":                            "1 lines have problems",
		"\xff\xfea\x00":                       "UTF-16",
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

func FuzzReadList(f *testing.F) {
	for _, s := range []string{
		"a.jpg\tcat\r\n", "path,label\n\"x\ny\",2\n", "\xef\xbb\xbf#\npath\n1\n", "label,path\n,\n#\n\n\"\"\"\",a",
		strings.Repeat("#", 70000) + "\npath,session\na,b\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		rows, err := parseList(bytes.NewReader(text))
		if err != nil {
			return
		}
		last := 0
		for _, r := range rows {
			if r.sample.Path == "" || r.line <= last || r.line > bytes.Count(text, []byte("\n"))+1 {
				t.Fatalf("row %+v after line %d", r, last)
			}
			last = r.line
		}
	})
}
