package dataset

import (
	"context"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// fromSpark begins a program with the module of the Spark jobs.
const fromSpark = `import json, sys
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
from pipeline_spark import *
`

// spark runs a program that prints JSON.
func spark(t *testing.T, program string, value any, args ...string) {
	t.Helper()
	run := exec.Command(testenv.Python(t),
		append([]string{"-c", fromSpark + program, filepath.Join("..", "deploy", "spark")}, args...)...)
	run.Env = append(os.Environ(), "PYTHONUTF8=1")
	must.Do(t, json.Unmarshal(must.Get(run.Output())(t), value))
}

// TestSparkKnowsTheSameExtensions: the Spark jobs decide by the names by which a scan does.
func TestSparkKnowsTheSameExtensions(t *testing.T) {
	var got map[string][]string
	spark(t, `print(json.dumps({"image": IMAGES, "raw": RAWS, "other": OTHERS}))`, &got)
	want := map[string][]string{}
	for _, ext := range extensions(t) {
		kind := kindByExtension(ext)
		if !pictured(kind) {
			kind = "other"
		}
		want[kind] = append(want[kind], ext)
	}
	for kind := range want {
		slices.Sort(got[kind])
		slices.Sort(want[kind])
		if !slices.Equal(got[kind], want[kind]) {
			t.Errorf("%s: %q, by Spark %q", kind, want[kind], got[kind])
		}
	}
}

// extensions are those of kindByExtension.
func extensions(t *testing.T) (all []string) {
	t.Helper()
	file := must.Get(parser.ParseFile(token.NewFileSet(), "kind.go", nil, 0))(t)
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Name.Name != "kindByExtension" {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && strings.HasPrefix(l.Value, `".`) {
				ext, _ := strconv.Unquote(l.Value) // it is Go
				all = append(all, ext)
			}
			return true
		})
	}
	if len(all) < 100 {
		t.Fatalf("%d extensions", len(all))
	}
	return all
}

// TestSparkFindsTheSamePhotos: the Spark jobs list the photos that a scan finds, in the same order and
// spelling, whatever is among them.
func TestSparkFindsTheSamePhotos(t *testing.T) {
	root := t.TempDir()
	write := func(name, content string) {
		t.Helper()
		file := filepath.Join(root, filepath.FromSlash(name))
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must.Do(t, os.WriteFile(file, []byte(content), 0o600))
	}
	for _, ext := range extensions(t) {
		write("kinds/photo"+ext, "")
		write("kinds/PHOTO"+strings.ToUpper(ext)+ext, "\xff\xd8\xff")
		write("kinds/twice.jpg"+ext, "")
	}
	for i, content := range []string{
		"\xff\xd8\xff", "\x89PNG\r\n\x1a\n", "GIF89a", "II*\x00", "MM\x00*",
		"BM\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
		"BM and more text", "RIFF....WEBP", "RIFF....WAVE", "\x00\x00\x00\x18ftypheic....mif1",
		"\x00\x00\x00\x18ftypcrx mif1",
		"\x00\x00\x00\x18ftypmsf0....mif1mif1", "\x00\x00\x00\x10ftypmsf0....heic", "\xff\x0a", "", "text",
		"\x00\x00\x00\x18ftypcrx ....isom", "FUJIFILMCCD-RAW 0201", "IIRO", "IIRS", "IIU\x00", "IIU", "MMOR",
	} {
		write("contents/"+strconv.Itoa(i), content)
		write("contents/"+strconv.Itoa(i)+".unknown", content)
		write("contents/"+strconv.Itoa(i)+".jpg?w=640", content)
	}
	for _, name := range []string{
		".hidden.jpg", "._fork.jpg", "a.jpg~", "a.jpg_original", "original", "Thumbs.db", "desktop.ini",
		"SYNOFILE_THUMB_M.jpg", "caf\xe9.jpg", "caf%E9.jpg", "\x1b[31m.jpg", "%1B.jpg",
		"c1\u009b.jpg", "100%.jpg", "new\nline.jpg",
		"tab\t.jpg", "cr\r.jpg", "ü.jpg", "u\u0308.jpg", "@eaDir/a.jpg", ".git/a.jpg", "Thumbnails/a.jpg",
		"$RECYCLE.BIN/a.jpg", "CVS/a.jpg", "cvs/a.jpg", "found.001/a.jpg", "found.1/a.jpg", "x.lrdata/a.jpg",
		"panda (Anna's conflicted copy 2024-05-01)/a.jpg", "x_conflict-2024/a.jpg", "x_conflict-y/a.jpg",
		"a-b/1.jpg", "a/1.jpg",
		"a0/1.jpg", "a.jpg/1.png", "node_modules/a.jpg", ".a.jpg.tmp-pipeline-1/x.jpg",
	} {
		write("names/"+name, "\xff\xd8\xff")
	}
	write("results/by-class/a/1.jpg", "\xff\xd8\xff")
	write("results/activity.png", "\x89PNG\r\n\x1a\n")
	write("results/mine.jpg", "\xff\xd8\xff")
	write("results/summary.json", `{"labelled": 1, "files": ["activity.png"], "settings": {}, "hashes": {}}`)
	for _, picture := range []string{"jpg", "JPG", "Jpg", "jpeg", "JPEG", "heic", "HEIC", "hif", "HIF", "png", "xmp"} {
		write("developed/"+picture+".NEF", "")
		write("developed/"+picture+"."+picture, "")
	}
	write("developed/folder.nef", "")
	write("developed/folder.jpg/a.jpg", "")
	write("foreign/by-class/a.jpg", "\xff\xd8\xff")
	write("foreign/summary.json", `{"files": ["by-class/a.jpg"]}`)
	write("elsewhere/real.heic", "")
	for link, to := range map[string]string{
		"names/again": "../a", "names/file.jpg": "a/1.jpg", "names/broken.jpg": "nothing", "names/loop": ".",
		"a/linked": "../../elsewhere", "b/linked": "../elsewhere", "thumbs": "elsewhere", "self.jpg": "self.jpg",
	} {
		link = filepath.Join(root, link)
		must.Do(t, os.MkdirAll(filepath.Dir(link), 0o755))
		if err := os.Symlink(to, link); err != nil {
			t.Skip(err)
		}
	}
	l := must.Get(Scan(context.Background(), root, ScanOptions{}))(t)
	var want, got []string
	for _, s := range l.Samples {
		want = append(want, EscapePath(s.Path))
	}
	spark(t, "print(json.dumps(list_images(sys.argv[2])))", &got, root)
	if slices.Equal(got, want) {
		return
	}
	for _, name := range want {
		if !slices.Contains(got, name) {
			t.Errorf("Spark does not find %q", name)
		}
	}
	for _, name := range got {
		if !slices.Contains(want, name) {
			t.Errorf("a scan does not find %q", name)
		}
	}
	t.Errorf("%d photos, %d by Spark", len(want), len(got))
}
