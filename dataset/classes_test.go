package dataset

import (
	"path/filepath"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func TestClassFrom(t *testing.T) {
	for _, c := range []struct{ path, top, leaf, whole string }{
		{"1.jpg", "", "", ""},
		{"Fruit/1.jpg", "Fruit", "Fruit", "Fruit"},
		{"Fruit/Apple/Gala/1.jpg", "Fruit", "Gala", "Fruit/Apple/Gala"},
		{"/far/Kiwi/1.jpg", "", "Kiwi", ""},
		{"/1.jpg", "", "", ""},
	} {
		for rule, want := range map[ClassFrom]string{"": c.top, ClassFromTop: c.top, ClassFromLeaf: c.leaf,
			ClassFromPath: c.whole, ClassFromRoot: "Photos"} {
			if got := rule.class(folderName("/home/Photos"), c.path); got != want {
				t.Errorf("%q of %s: %q, want %q", rule, c.path, got, want)
			}
		}
	}
}

// TestClassFromRoot: the name is that of the folder, however it is given.
func TestClassFromRoot(t *testing.T) {
	dir := tree(t, map[string]string{"otter/1.jpg": "", "otter/young/2.jpg": ""})
	t.Chdir(filepath.Join(dir, "otter"))
	for _, root := range []string{".", "./", "../otter/", filepath.Join(dir, "otter")} {
		for _, s := range mustScan(t, root, ScanOptions{ClassFrom: ClassFromRoot}).Samples {
			if s.Label != "otter" {
				t.Errorf("%s of %s: %q", s.Path, root, s.Label)
			}
		}
	}
	if got := ClassFromRoot.class(folderName("/"), "1.jpg"); got != "" {
		t.Errorf("the file system's root: %q", got)
	}
}

// TestMerged: both ways of finding images report the classes with several
// folders, and leave out the dropped ones.
func TestMerged(t *testing.T) {
	root := tree(t, map[string]string{"a/x/1.jpg": "", "a/y/2.jpg": "", "a/3.jpg": "", "b/x/4.jpg": "", "c/z/5.jpg": "",
		"c/6.jpg": ""})
	opts := ScanOptions{Filter: Filter{DropLabels: []string{"c"}}}
	want := []Merged{{"a", [2]string{"a", "a/x"}}}
	l := mustScan(t, root, opts)
	wantEqual(t, "Scan", l.Merged, want)
	if l.Skipped["dropped"] != 2 || len(l.Samples) != 4 {
		t.Errorf("%+v", l)
	}
	source := must.Get(Walk(t.Context(), root, opts))(t)
	found, _ := source.Outcome()
	wantEqual(t, "Walk", found.Merged, want)
	opts.ClassFrom = ClassFromLeaf
	wantEqual(t, "leaf", mustScan(t, root, opts).Merged, []Merged{{"x", [2]string{"a/x", "b/x"}}})
}
