package demo

import (
	"bytes"
	"crypto/sha256"
	"image/jpeg"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

const testSeed = 1

// contents reads every file under dir, keyed by slash path.
func contents(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	must.Do(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		files[filepath.ToSlash(rel)], err = os.ReadFile(p)
		return err
	}))
	return files
}

func TestGenerate(t *testing.T) {
	if testing.Short() {
		t.Skip("the example draws all pictures already")
	}
	dir := t.TempDir()
	set := must.Get(Generate(t.Context(), dir, testSeed))(t)
	files := contents(t, dir)
	t.Run("counts", func(t *testing.T) { checkCounts(t, set, files) })
	t.Run("pictures", func(t *testing.T) { checkPictures(t, files) })
	t.Run("truth", func(t *testing.T) { checkTruth(t, set, files) })
	t.Run("order of work", func(t *testing.T) { checkOrderFree(t, files) })
}

func checkCounts(t *testing.T, set Set, files map[string][]byte) {
	got := map[string]int{}
	for p := range files {
		got[filepath.Dir(p)]++
	}
	want := map[string]int{".": 1, "photos": 16*photosPerClass + 3*photosPerUnknown + 2}
	for _, c := range baseClasses {
		want["base/"+c.name] = basePerClass
	}
	for _, c := range newClasses {
		want["new/"+c.name] = shotsPerNewClass
	}
	if len(baseClasses) != 12 || len(newClasses) != 4 || len(unknownClasses) != 3 {
		t.Errorf("%d base, %d new, %d unknown classes, want 12, 4, 3", len(baseClasses), len(newClasses),
			len(unknownClasses))
	}
	for folder, n := range want {
		if got[folder] != n {
			t.Errorf("%s has %d files, want %d", folder, got[folder], n)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d folders, want %d", len(got), len(want))
	}
	if len(set.Shown) != 158 {
		t.Errorf("%d photos in Set", len(set.Shown))
	}
}

func checkPictures(t *testing.T, files map[string][]byte) {
	seen := map[[32]byte]string{}
	for p, data := range files {
		if other, twice := seen[sha256.Sum256(data)]; twice {
			t.Errorf("%s equals %s", p, other)
		}
		seen[sha256.Sum256(data)] = p
		img, err := jpeg.Decode(bytes.NewReader(data))
		if p == "photos/IMG_9998.jpg" || !strings.HasSuffix(p, ".jpg") {
			if err == nil {
				t.Errorf("%s decodes but should not", p)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", p, err)
			continue
		}
		size := img.Bounds().Size()
		if min(size.X, size.Y) < 160 || max(size.X, size.Y) > 240 {
			t.Errorf("%s is %v pixels, want sides of 160 to 240", p, size)
		}
	}
}

func checkTruth(t *testing.T, set Set, files map[string][]byte) {
	known := map[string]bool{}
	for _, c := range knownClasses() {
		known[c.name] = true
	}
	perClass := map[string]int{}
	list := "path,label\n"
	for _, p := range set.Shown {
		list += p.Path + "," + p.Class + "\n"
		if p.Known != known[p.Class] {
			t.Errorf("photo %s of %s: known is %v", p.Path, p.Class, p.Known)
		}
		if files["photos/"+p.Path] == nil {
			t.Errorf("photo %s does not exist", p.Path)
		}
		perClass[p.Class]++
	}
	for c, n := range perClass {
		if known[c] && n != photosPerClass || !known[c] && n != photosPerUnknown {
			t.Errorf("%d photos of %s", n, c)
		}
	}
	if len(perClass) != 19 {
		t.Errorf("photos show %d classes, want 19", len(perClass))
	}
	if got := string(files["truth.csv"]); got != list {
		t.Errorf("truth.csv differs from Set.Shown:\n%s", got)
	}
}

// checkOrderFree draws single pictures in a different order from Generate.
func checkOrderFree(t *testing.T, files map[string][]byte) {
	planned, _ := plan(testSeed)
	for i := len(planned) - 1; i >= 0; i -= 37 {
		data := must.Get(planned[i].bytes(testSeed))(t)
		if !bytes.Equal(data, files[planned[i].path]) {
			t.Errorf("%s depends on the order of work", planned[i].path)
		}
	}
}

func TestPictureDependsOnSeedNameAndClass(t *testing.T) {
	seen := map[[32]byte]string{}
	record := func(what string, c class, seed uint64, name string) {
		data := must.Get(c.render(seed, name))(t)
		if other, twice := seen[sha256.Sum256(data)]; twice {
			t.Errorf("%s of %s equals %s", what, c.name, other)
		}
		seen[sha256.Sum256(data)] = c.name
	}
	for _, c := range allClasses() {
		record("first picture", c, 7, "x")
	}
	record("other seed", baseClasses[0], 8, "x")
	record("other name", baseClasses[0], 7, "y")
}

func TestClassNamesAreSortedAndUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, group := range [][]class{baseClasses, newClasses, unknownClasses} {
		for i, c := range group {
			if seen[c.name] || i > 0 && group[i-1].name >= c.name {
				t.Errorf("class %q is repeated or out of order", c.name)
			}
			seen[c.name] = true
		}
	}
}

func TestWriteIfChanged(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sub", "a.jpg")
	write := func(text string) os.FileInfo {
		must.Do(t, writeIfChanged(file, []byte(text)))
		return must.Get(os.Stat(file))(t)
	}
	first, again, other := write("one"), write("one"), write("two")
	if !os.SameFile(first, again) {
		t.Error("an unchanged file was replaced")
	}
	if os.SameFile(again, other) {
		t.Error("a changed file was overwritten in place")
	}
	left, _ := filepath.Glob(file + "*")
	if len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func TestGenerateSaysWhereItFailed(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	must.Do(t, os.WriteFile(blocked, nil, 0o600))
	if _, err := Generate(t.Context(), blocked, testSeed); err == nil || !strings.Contains(err.Error(), blocked) {
		t.Errorf("error %v does not name %s", err, blocked)
	}
}
