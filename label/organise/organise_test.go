package organise

import (
	"encoding/xml"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/label"
)

func write(t *testing.T, file, text string) {
	t.Helper()
	must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)))
}

func labelled(path, class string, rejected bool) label.Scored {
	return label.Scored{Sample: dataset.Sample{Path: path}, Prediction: classifier.Prediction{Label: class},
		Rejected: rejected}
}

// build creates a tree of the images and commits it, as a job that finishes.
func build(t *testing.T, how How, root, dir string, images ...label.Scored) {
	t.Helper()
	tree := must.Get(NewTree(how, root, dir))(t)
	defer tree.Abort()
	for _, image := range images {
		must.Do(t, tree.Put(image))
	}
	must.Do(t, tree.Commit(embedding.Outcome{}))
	write(t, filepath.Join(filepath.Dir(dir), "summary.json"), "{}")
}

// contents maps the files of a tree to what is read through them.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	must.Do(t, filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			text = []byte("unreadable")
		}
		rel, relErr := filepath.Rel(dir, name)
		found[filepath.ToSlash(rel)] = string(text)
		return relErr
	}))
	return found
}

func wantTree(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	got := contents(t, dir)
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s is %q, want %q", name, got[name], text)
		}
	}
	if len(got) != len(want) {
		t.Errorf("the tree holds %v, want %v", got, want)
	}
}

// TestTreeIsRebuilt: a second run moves images whose class changed, keeps
// foreign files, and touches no original.
func TestTreeIsRebuilt(t *testing.T) {
	for _, how := range []How{Links, Copies} {
		t.Run(string(how), func(t *testing.T) {
			root, dir := t.TempDir(), filepath.Join(t.TempDir(), "by-class")
			write(t, filepath.Join(root, "2024/a.jpg"), "a")
			write(t, filepath.Join(root, "2025/a.jpg"), "another a")
			write(t, filepath.Join(root, "b.jpg"), "b")
			outside := filepath.Join(t.TempDir(), "far.jpg")
			write(t, outside, "far")
			first := []label.Scored{labelled("2024/a.jpg", "cat", false), labelled("2025/a.jpg", "cat", false),
				labelled("b.jpg", "a/b", true), labelled(filepath.ToSlash(outside), "cat", false)}
			build(t, how, root, dir, first...)
			far := placeOf("cat", filepath.ToSlash(outside))
			wantTree(t, dir, map[string]string{"cat/2024/a.jpg": "a", "cat/2025/a.jpg": "another a",
				"_rejected/b.jpg": "b", filepath.ToSlash(far): "far"})
			write(t, filepath.Join(dir, "cat/mine.txt"), "my note")
			write(t, filepath.Join(dir, "top.txt"), "mine too")
			build(t, how, root, dir, labelled("2024/a.jpg", "dog", false), labelled("2025/a.jpg", "cat", false),
				labelled("b.jpg", "a/b", false))
			want := map[string]string{"dog/2024/a.jpg": "a", "cat/2025/a.jpg": "another a", "a%2Fb/b.jpg": "b",
				"cat/mine.txt": "my note", "top.txt": "mine too"}
			if how == Copies { // its original is not below the root: perhaps the last copy
				want[filepath.ToSlash(far)] = "far"
			}
			wantTree(t, dir, want)
			if got := contents(t, root); got["2024/a.jpg"] != "a" || len(got) != 3 {
				t.Errorf("the originals are %v", got)
			}
		})
	}
}

// TestLastCopyStays when the original is gone, or was changed.
func TestLastCopyStays(t *testing.T) {
	root, dir := t.TempDir(), filepath.Join(t.TempDir(), "by-class")
	write(t, filepath.Join(root, "a.jpg"), "a")
	write(t, filepath.Join(root, "b.jpg"), "b")
	build(t, Copies, root, dir, labelled("a.jpg", "cat", false), labelled("b.jpg", "cat", false))
	must.Do(t, os.Remove(filepath.Join(root, "a.jpg")))
	write(t, filepath.Join(root, "b.jpg"), "edited")
	for range 2 {
		build(t, Copies, root, dir, labelled("b.jpg", "cat", false))
		wantTree(t, dir, map[string]string{"cat/a.jpg": "a", "cat/b.jpg": "edited", "cat/b.jpg.kept-2": "b"})
	}
}

// TestCopiesAreReused: a good copy is linked, not read again.
func TestCopiesAreReused(t *testing.T) {
	root, dir := t.TempDir(), filepath.Join(t.TempDir(), "by-class")
	file := filepath.Join(root, "a.jpg")
	write(t, file, "a")
	old := time.Now().Add(-time.Hour).Truncate(time.Second)
	must.Do(t, os.Chtimes(file, old, old))
	build(t, Copies, root, dir, labelled("a.jpg", "cat", false))
	before, err := os.Stat(filepath.Join(dir, "cat", "a.jpg"))
	if err != nil || !before.ModTime().Equal(old) {
		t.Fatalf("%v, %v", before, err)
	}
	build(t, Copies, root, dir, labelled("a.jpg", "cat", false))
	after, err := os.Stat(filepath.Join(dir, "cat", "a.jpg"))
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("the copy was made again (%v)", err)
	}
}

// TestAbortLeavesTheOldTree, and a photo that vanished is an ItemError.
func TestAbortLeavesTheOldTree(t *testing.T) {
	root, dir := t.TempDir(), filepath.Join(t.TempDir(), "by-class")
	write(t, filepath.Join(root, "a.jpg"), "a")
	build(t, Links, root, dir, labelled("a.jpg", "cat", false))
	tree := must.Get(NewTree(Copies, root, dir))(t)
	var item *label.ItemError
	if err := tree.Put(labelled("gone.jpg", "cat", false)); !errors.As(err, &item) {
		t.Errorf("a photo that was removed: %v", err)
	}
	tree.Abort()
	wantTree(t, dir, map[string]string{"cat/a.jpg": "a"})
	entries, err := os.ReadDir(filepath.Dir(dir))
	if err != nil || len(entries) != 2 || atomicfile.IsTemp(entries[0].Name()) { // by-class and summary.json
		t.Errorf("left %v, %v", entries, err)
	}
	if _, err := NewTree("move", root, dir); err == nil {
		t.Error("photos are never moved")
	}
}

func TestFolderNames(t *testing.T) {
	seen := map[string]string{}
	for _, class := range []string{"cat", "a/b", "a%2Fb", "..", ".", "", ".git", "_rejected", "%5Frejected", "x\x00y",
		"a\nb", "aux:", "tail.", "tail", "été", "-rf", strings.Repeat("long", 99), strings.Repeat("long", 98)} {
		name := FolderName(class)
		if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\\\x00\n") || len(name) > 255 ||
			name == unknownFolder || strings.HasPrefix(name, ".") {
			t.Errorf("%q gives %q", class, name)
		}
		if other, taken := seen[name]; taken {
			t.Errorf("%q and %q both give %q", class, other, name)
		}
		seen[name] = class
	}
}

// TestFolderNamesOfWindows: no folder has the name of a device, or ends in what Windows
// drops.
func TestFolderNamesOfWindows(t *testing.T) {
	for class, want := range map[string]string{
		"con": "%63on", "NUL": "%4EUL", "aux.old": "%61ux.old", "LPT1": "%4CPT1", "COM²": "%43OM²", "com0": "com0",
		"com9.txt": "%63om9.txt",
		"con .x":   "%63on .x",
		"console":  "console", "COM": "COM", "com10": "com10", "tail.": "tail%2E", "tail ": "tail%20", "cat": "cat",
	} {
		if got := FolderName(class); got != want {
			t.Errorf("%q gives %q, want %q", class, got, want)
		}
	}
}

func FuzzFolderName(f *testing.F) {
	f.Add("a/b", "a%2Fb")
	f.Fuzz(func(t *testing.T, a, b string) {
		if na, nb := FolderName(a), FolderName(b); a != b && na == nb {
			t.Errorf("%q and %q both give %q", a, b, na)
		} else if strings.ContainsAny(na, "/\x00") || len(na) > 255 || na == ".." || na == "." || na == "" {
			t.Errorf("%q gives %q", a, na)
		}
	})
}

// TestSidecars: ours are rewritten and removed, those of others never.
func TestSidecars(t *testing.T) {
	root := t.TempDir()
	s := NewSidecars(root, nil)
	side := filepath.Join(root, "a.jpg.xmp")
	for _, class := range []string{"cat <&> \"co\"", "dog", "dog"} {
		must.Do(t, s.Put(labelled("a.jpg", class, false)))
		if got := subjects(t, side); len(got) != 1 || got[0] != class {
			t.Errorf("dc:subject is %q, want %q", got, class)
		}
	}
	several := labelled("a.jpg", "", false)
	several.By, several.Labels = label.Person, []string{"a<b", "c"}
	must.Do(t, s.Put(several))
	if got := subjects(t, side); !slices.Equal(got, several.Labels) {
		t.Errorf("of several things dc:subject is %q", got)
	}
	must.Do(t, s.Put(labelled("a.jpg", "dog", true)))
	if _, err := os.Lstat(side); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a rejected image keeps its sidecar")
	}
	if err := s.Put(labelled("a.jpg", "dog", true)); err != nil {
		t.Error(err)
	}
	foreign := `<x:xmpmeta xmlns:x="adobe:ns:meta/"/>`
	write(t, side, foreign)
	var item *label.ItemError
	for _, rejected := range []bool{false, true} {
		if err := s.Put(labelled("a.jpg", "cat", rejected)); !errors.As(err, &item) {
			t.Errorf("a foreign sidecar: %v", err)
		}
	}
	if text, err := os.ReadFile(side); err != nil || string(text) != foreign {
		t.Errorf("the foreign sidecar is now %q (%v)", text, err)
	}
	if err := s.Put(labelled("gone/a.jpg", "cat", false)); !errors.As(err, &item) {
		t.Errorf("a folder that was removed: %v", err)
	}
}

// TestEditedSidecars: what another program or a person has changed stays as it is, whatever it is, and the
// photo is reported.
func TestEditedSidecars(t *testing.T) {
	made := must.Get(sidecar([]string{"cat"}))(t)
	for what, edit := range map[string][2]string{
		"rating":  {` xmp:CreatorTool`, ` xmp:Rating="4" xmp:CreatorTool`},
		"keyword": {"</rdf:Bag>", "<rdf:li>mine</rdf:li></rdf:Bag>"},
		"other place for a keyword": {"    </rdf:Bag>",
			"     <rdf:li>mine</rdf:li>\n     </rdf:Bag>"},
		"description": {"  </rdf:Description>", "   <dc:title>mine</dc:title>\n  </rdf:Description>"},
		"line ends":   {"\n", "\r\n"}, "line at the end": {`<?xpacket end="w"?>`, `<?xpacket end="w"?>` + "\n"},
		"comment": {"<x:xmpmeta", "<!-- mine --><x:xmpmeta"}, "half of it": {"</rdf:RDF>\n</x:xmpmeta>", ""},
		"second description": {" </rdf:RDF>",
			"<rdf:Description><dc:subject><rdf:Bag/></dc:subject></rdf:Description> </rdf:RDF>"},
	} {
		t.Run(what, func(t *testing.T) {
			root := t.TempDir()
			side := filepath.Join(root, "a.jpg.xmp")
			edited := strings.ReplaceAll(string(made), edit[0], edit[1])
			if edited == string(made) {
				t.Fatal("nothing is edited")
			}
			write(t, side, edited)
			for _, rejected := range []bool{false, true} {
				var item *label.ItemError
				if err := NewSidecars(root, nil).Put(labelled("a.jpg", "dog", rejected)); !errors.As(err, &item) {
					t.Errorf("rejected %t: %v", rejected, err)
				}
			}
			if text, err := os.ReadFile(side); err != nil || string(text) != edited {
				t.Errorf("it is now %q (%v)", text, err)
			}
		})
	}
}

// TestSidecarsOfBoxes: a photo has the classes of all its boxes, once they have come; what is
// empty, or has none that is known, keeps no sidecar of an earlier run.
func TestSidecarsOfBoxes(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"empty.jpg", "new.jpg"} { // of earlier runs
		must.Do(t, NewSidecars(root, nil).Put(labelled(name, "fox", false)))
	}
	s := NewSidecars(root, &dataset.BoxesFound{Photos: []dataset.BoxedPhoto{{Path: "a.jpg", Boxes: 3},
		{Path: "new.jpg", Boxes: 1}, {Path: "half.jpg", Boxes: 2}, {Path: "broken.jpg", Boxes: 1},
		{Path: "empty.jpg"}, {Path: "theirs.jpg"}}})
	side := func(name string) string { return filepath.Join(root, name+".xmp") }
	gone := func(name string) bool {
		_, err := os.Lstat(side(name))
		return errors.Is(err, fs.ErrNotExist)
	}
	for i, class := range []string{"owl", "person", "owl"} {
		if !gone("a.jpg") {
			t.Error("a sidecar before the last box")
		}
		must.Do(t, s.Put(ofBox(labelled("a.jpg", class, false), i+1)))
	}
	for _, row := range []label.Scored{ofBox(labelled("new.jpg", "owl", true), 1),
		ofBox(labelled("half.jpg", "elk", false), 2)} {
		must.Do(t, s.Put(row))
	}
	write(t, side("theirs.jpg"), "<x/>")
	var refused label.Refused
	if err := s.Commit(embedding.Outcome{}); !errors.As(err, &refused) || len(refused) != 1 ||
		refused[0].Path != "theirs.jpg" {
		t.Errorf("a foreign sidecar of an empty photo: %v", err)
	}
	if got := subjects(t, side("a.jpg")); !slices.Equal(got, []string{"owl", "person"}) {
		t.Errorf("three boxes give %q", got)
	}
	if got := subjects(t, side("half.jpg")); !slices.Equal(got, []string{"elk"}) {
		t.Errorf("the box that could be read gives %q", got)
	}
	for _, name := range []string{"new.jpg", "empty.jpg", "broken.jpg"} {
		if !gone(name) {
			t.Errorf("%s has a sidecar", name)
		}
	}
}

// ofBox makes a row one of a box of its photo.
func ofBox(row label.Scored, number int) label.Scored {
	row.Sample = (&dataset.Box{Number: number}).In(row.Sample)
	return row
}

func subjects(t *testing.T, file string) []string {
	t.Helper()
	text := must.Get(os.ReadFile(file))(t)
	var meta struct {
		Subjects []string `xml:"RDF>Description>subject>Bag>li"`
	}
	if err := xml.Unmarshal(text, &meta); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return meta.Subjects
}

// TestCropNames tell photo and box, and two boxes never have one name.
func TestCropNames(t *testing.T) {
	for _, photo := range []string{"a.jpg", "a", "a.1", "a.jpg.1.jpg", "a.1.2"} {
		for _, n := range []int{1, 12} {
			if got, ok := CropOf(CropName(photo, n)); !ok || got != photo {
				t.Errorf("box %d of %s is one of %s, %v", n, photo, got, ok)
			}
		}
	}
	for _, name := range []string{"a.jpg", "a.1.png", ".1.jpg", "a.0.jpg", "a.01.jpg", "a.+1.jpg", "1.jpg", "a..jpg"} {
		if photo, ok := CropOf(name); ok {
			t.Errorf("%s is a box of %s", name, photo)
		}
	}
}
