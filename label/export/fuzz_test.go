package export_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/seed-90d10d51/pipeline/dataset"
)

// FuzzNames: a class and a photo of any names come back from every format, and no file is
// written elsewhere.
func FuzzNames(f *testing.F) {
	f.Add("caf%E9.jpg", "caf\xe9") // TestHostileNames has many more
	f.Add("__a/new\nline.jpg", "a:b")
	f.Add("./NA", "class:x|y")
	f.Add("a.jpg", "%2E%2e/")
	f.Add("~.jpg", "human")
	f.Fuzz(func(t *testing.T, name, class string) {
		// A class is text as models have it, and a photo what a file system can have.
		class = dataset.EscapePath(dataset.UnescapePath(class))
		isText := utf8.ValidString(class) && norm.NFC.IsNormalString(class) && !strings.Contains(class, "\x00")
		if class == "" || !isText {
			return
		}
		name = strings.Trim(strings.ReplaceAll(filepath.ToSlash(filepath.Clean("/"+name)), "\x00", ""), "/")
		root, dir := t.TempDir(), t.TempDir()
		file := filepath.Join(root, filepath.FromSlash(name))
		if name == "" || os.MkdirAll(filepath.Dir(file), 0o755) != nil {
			return
		}
		if os.WriteFile(file, []byte(name), 0o644) != nil {
			return
		}
		run(t, options(root, dir), all, row(name, class))
		if n := len(tree(t, dir)); n != 11 {
			t.Errorf("%d files: %q", n, tree(t, dir))
		}
		for format, list := range lists {
			below := root
			if format == "imagefolder" {
				below = filepath.Join(dir, format)
			}
			if got := read(t, filepath.Join(dir, list), below); len(got) != 1 || got[name] != class {
				t.Errorf("%s: %q, want %q of %q", format, got, class, name)
			}
		}
	})
}
