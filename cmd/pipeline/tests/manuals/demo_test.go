package manuals

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestDemo runs the whole tour, as the README shows it.
func TestDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("draws and labels 540 pictures")
	}
	l := commandtest.New(t)
	d := l.Demo()
	for _, name := range []string{"report.html", "demo.model", "labels/labels.csv", "labels/errors.csv",
		"features/embeddings.npy"} {
		if !l.Exists(d.Dir, name) {
			t.Errorf("no %s", name)
		}
	}
	for _, step := range []string{"embed", "train", "learn", "label", "eval"} {
		if !strings.Contains(d.Said, "\n$ pipeline "+step+" ") {
			t.Errorf("the demo does not show %s", step)
		}
	}
	checkDemo(t, l, d.Said, d.Dir)
}

// TestDemoOtherSeed runs the checks of TestDemo with another collection.
func TestDemoOtherSeed(t *testing.T) {
	if testing.Short() {
		t.Skip("draws and labels 540 pictures")
	}
	l := commandtest.New(t)
	checkDemo(t, l, l.Must("demo", "--seed", "1", "--out", l.Path("demo")).Stdout, l.Path("demo"))
}

// demoCount counts photos.
type demoCount struct{ photos, named, right, rejected int }

// checkDemo compares the labels with the truth. At least 85 % of the photos of
// the base classes, and of the new ones, must be labelled correctly; at least
// half of those of unknown classes and at most a tenth of the others must be
// rejected. The demo and eval must report the same numbers.
func checkDemo(t *testing.T, l *commandtest.Bed, said, dir string) {
	t.Helper()
	counts := countDemo(t, l, dir)
	base, few, unknown := counts["base"], counts["new"], counts["unknown"]
	if base.photos != 96 || few.photos != 32 || unknown.photos != 30 {
		t.Fatalf("%d photos of base classes, %d of new and %d of unknown ones", base.photos, few.photos, unknown.photos)
	}
	for name, n := range map[string]demoCount{"base": base, "new": few} {
		if float64(n.right) < 0.85*float64(n.photos) {
			t.Errorf("of %d photos of %s classes, %d are named correctly", n.photos, name, n.right)
		}
	}
	known := demoCount{base.photos + few.photos, base.named + few.named, base.right + few.right,
		base.rejected + few.rejected}
	if 10*known.rejected > known.photos {
		t.Errorf("%d of %d photos of known classes are rejected", known.rejected, known.photos)
	}
	if 2*unknown.rejected < unknown.photos {
		t.Errorf("%d of %d photos of unknown classes are rejected", unknown.rejected, unknown.photos)
	}
	percent := fmt.Sprintf("%.1f %%", 100*float64(known.right)/float64(known.photos))
	for _, want := range []string{
		fmt.Sprintf("accuracy           %.1f %%\n", 100*float64(known.named)/float64(known.photos)),
		fmt.Sprintf("rejected           %d of %d known, %d of %d unknown\n", known.rejected, known.photos,
			unknown.rejected, unknown.photos),
		fmt.Sprintf("Of %d photos of things that it was taught, it labels %d correctly (%s) and rejects %d as unknown.",
			known.photos, known.right, percent, known.rejected),
		fmt.Sprintf("Of %d photos of things that it was never taught, it rejects %d.", unknown.photos,
			unknown.rejected),
	} {
		if !strings.Contains(said, want) {
			t.Errorf("the demo does not say %q:\n%s", want, said)
		}
	}
}

// countDemo counts the photos of base, new and unknown classes.
func countDemo(t *testing.T, l *commandtest.Bed, dir string) map[string]demoCount {
	t.Helper()
	guess, label, rejected := map[string]string{}, map[string]string{}, map[string]string{}
	for _, row := range l.Table(dir, "labels", "labels.csv")[1:] {
		label[row[0]], rejected[row[0]] = row[1], row[6]
		var top [][2]any
		must.Do(t, json.Unmarshal([]byte(row[7]), &top))
		guess[row[0]] = top[0][0].(string)
	}
	taught := map[string]map[string]bool{"base": classFolders(t, dir, "base"), "new": classFolders(t, dir, "new")}
	counts := map[string]demoCount{}
	for _, row := range l.Table(dir, "images", "truth.csv")[1:] {
		group := "unknown"
		for name, classes := range taught {
			if classes[row[1]] {
				group = name
			}
		}
		n := counts[group]
		n.photos++
		if guess[row[0]] == row[1] {
			n.named++
		}
		if label[row[0]] == row[1] {
			n.right++
		}
		if rejected[row[0]] == "true" {
			n.rejected++
		}
		counts[group] = n
	}
	if len(label) != 158 {
		t.Errorf("%d labels", len(label))
	}
	return counts
}

// classFolders returns the classes that a folder of the demo teaches.
func classFolders(t *testing.T, dir, name string) map[string]bool {
	t.Helper()
	entries := must.Get(os.ReadDir(filepath.Join(dir, "images", name)))(t)
	classes := map[string]bool{}
	for _, entry := range entries {
		classes[entry.Name()] = true
	}
	return classes
}
