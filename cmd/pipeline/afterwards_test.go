package main

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// snapshot maps every file of a folder to its content.
func (l *testbed) snapshot(dir string) map[string]string {
	l.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			found[name] = string(l.read(name))
		}
		return err
	})
	if err != nil {
		l.Fatal(err)
	}
	return found
}

// TestOrganise: each photo is once in the tree, in the folder of its class; the
// originals do not change; a second run gives the same tree.
func TestOrganise(t *testing.T) {
	l := newTestbed(t)
	model, images := l.trained()
	before := l.snapshot(images)
	for _, how := range []string{"link", "copy"} {
		out := l.path("out-" + how)
		for range 2 {
			l.must("label", model, "--images", images, "--out", out, "--organise", how)
			rows := l.table(out, "labels.csv")
			labels := column(t, rows, "label")
			for i, path := range column(t, rows, "path") {
				if string(l.read(out, "by-class", labels[i], path)) != before[filepath.Join(images, path)] {
					t.Errorf("%s: %s differs", how, path)
				}
			}
			if n := l.countFiles(filepath.Join(out, "by-class")); n != len(rows)-1 {
				t.Errorf("%s: %d files for %d photos", how, n, len(rows)-1)
			}
		}
	}
	if after := l.snapshot(images); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Error("the originals changed")
	}
	l.refused(exitUsage, []string{"organise", "move"}, "label", model, "--images", images, "--out", l.path("o"), "--organise", "move")
}

func (l *testbed) countFiles(dir string) (n int) {
	l.Helper()
	err := filepath.WalkDir(dir, func(_ string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			n++
		}
		return err
	})
	if err != nil {
		l.Fatal(err)
	}
	return n
}

// TestXMP: the class is in dc:subject next to the photo, a sidecar of another
// program stays and is one row of errors.csv, and a second run has the same
// counts as the first.
func TestXMP(t *testing.T) {
	l := newTestbed(t)
	model, images := l.trained()
	foreign := filepath.Join(images, "kiwi", "000.jpg.xmp")
	l.write(foreign, []byte("<my-edits/>"))
	var summaries []string
	for range 2 {
		l.expect(exitPartial, "label", model, "--images", images, "--out", l.path("out"), "--xmp")
		summary := l.object(l.path("out"), "summary.json")
		delete(summary, "timing")
		summaries = append(summaries, fmt.Sprint(summary))
	}
	if summaries[0] != summaries[1] {
		t.Errorf("the second run says\n%s\nthe first\n%s", summaries[1], summaries[0])
	}
	if string(l.read(foreign)) != "<my-edits/>" {
		t.Error("a sidecar of another program was changed")
	}
	if failed := l.table(l.path("out"), "errors.csv"); len(failed) != 2 || failed[1][0] != "kiwi/000.jpg" || !strings.Contains(failed[1][1], "left alone") {
		t.Errorf("errors %q", failed)
	}
	rows := l.table(l.path("out"), "labels.csv")
	labels := column(t, rows, "label")
	for i, path := range column(t, rows, "path") {
		if path == "kiwi/000.jpg" {
			continue
		}
		var meta struct {
			Subjects []string `xml:"RDF>Description>subject>Bag>li"`
		}
		if err := xml.Unmarshal(l.read(images, path+".xmp"), &meta); err != nil || !slices.Equal(meta.Subjects, labels[i:i+1]) {
			t.Errorf("%s: %v, %v", path, meta, err)
		}
	}
}

// TestRank: photos of a class in the folder of another come first by
// label-error, and strange ones by novelty.
func TestRank(t *testing.T) {
	l := newTestbed(t)
	model, _ := l.trained("--classifier", "ncm")
	seen := l.photos(l.path("seen"), smallSide, 12, "kiwi", "lime")
	for _, i := range []int{3, 4} {
		l.write(filepath.Join(seen, "lime", fmt.Sprintf("wrong%d.jpg", i)), photo("plum", 100+i, smallSide))
	}
	l.must("rank", model, "--images", seen, "--by", "label-error", "--top", "2", "--out", l.path("wrong.csv"))
	rows := l.table(l.path("wrong.csv"))
	if got := column(t, rows, "path"); !slices.Equal(sorted(got), []string{"lime/wrong3.jpg", "lime/wrong4.jpg"}) {
		t.Errorf("likely label errors: %q", rows)
	}
	for _, by := range []string{"entropy", "margin", "novelty"} {
		l.must("rank", model, "--images", seen, "--by", by, "--out", l.path(by+".csv"))
		if n := len(l.table(l.path(by + ".csv"))); n != 27 {
			t.Errorf("%s: %d rows", by, n)
		}
	}
	l.refused(exitFailed, []string{"variance", "gpr"}, "rank", model, "--images", seen, "--by", "variance", "--out", l.path("v.csv"))
	l.refused(exitUsage, []string{"entropy", "age"}, "rank", model, "--images", seen, "--by", "age", "--out", l.path("v.csv"))
	l.refused(exitFailed, []string{"DIR/<class>"}, "rank", model, "--images", l.photos(l.path("others"), smallSide, 1, "x"), "--by", "label-error", "--out", l.path("v.csv"))
}

// TestRankLearned: photos that were learned under a wrong class come first, each judged
// without it, and with the right class, so that the table can be learned; eval says that
// it measures on what was learned.
func TestRankLearned(t *testing.T) {
	l := newTestbed(t)
	images := l.photos(l.path("images"), smallSide, 6, "kiwi", "lime", "plum")
	for _, i := range []int{3, 4} {
		l.write(filepath.Join(images, "lime", fmt.Sprintf("wrong%d.jpg", i)), photo("plum", 100+i, smallSide))
	}
	model := l.path("m.model")
	l.must("train", "--images", images, "--out", model, "--classifier", "gpr")
	r := l.must("rank", model, "--images", images, "--by", "label-error", "--top", "2", "--out", l.path("wrong.csv"))
	rows := l.table(l.path("wrong.csv"))
	if got := column(t, rows, "path"); !slices.Equal(sorted(got), []string{"lime/wrong3.jpg", "lime/wrong4.jpg"}) {
		t.Errorf("likely label errors: %q", rows)
	}
	if got := column(t, rows, "label"); !slices.Equal(got, []string{"plum", "plum"}) || !strings.Contains(r.stdout, "20 images learned by the model") {
		t.Errorf("labels %q, and rank says\n%s", got, r.stdout)
	}
	if r := l.must("eval", model, "--images", images); !strings.Contains(r.stderr, "has learned some of these images") || !strings.Contains(r.stderr, "images=20") {
		t.Errorf("eval of what was learned says\n%s%s", r.stdout, r.stderr)
	}
	large := l.photos(l.path("large"), smallSide, 24, "kiwi", "lime")
	l.must("train", "--images", large, "--out", l.path("large.model"), "--classifier", "ncm")
	if r := l.must("rank", l.path("large.model"), "--images", l.path("large"), "--include", "kiwi/*", "--by", "label-error", "--out", l.path("part.csv")); !strings.Contains(r.stderr, "rank all that it has learned") || !strings.Contains(r.stderr, "missing=24 of=48") {
		t.Errorf("rank of a part of many images says\n%s%s", r.stdout, r.stderr)
	}
}

func sorted(s []string) []string {
	s = slices.Clone(s)
	slices.Sort(s)
	return s
}

// TestUnknownGroupsBecomeClasses: unknown photos are grouped; a group that gets a
// name is learned, and recognised from then on.
func TestUnknownGroupsBecomeClasses(t *testing.T) {
	l := newTestbed(t)
	images := l.photos(l.path("base"), smallSide, 24, "kiwi", "lime", "plum", "fig", "pear", "rose")
	model := l.path("base.model")
	l.must("train", "--images", images, "--out", model)
	all := l.photos(l.path("all"), smallSide, 6, "kiwi", "plum", "quince", "medlar")
	l.must("rank", model, "--images", all, "--by", "novelty", "--cluster-unknown", l.path("unknown"), "--out", l.path("novel.csv"))
	groups, err := filepath.Glob(l.path("unknown", "group-*"))
	if err != nil || len(groups) < 1 {
		t.Fatalf("groups %q, %v", groups, err)
	}
	pure := 0
	for _, g := range groups {
		seen := map[string]int{}
		links, err := filepath.Glob(filepath.Join(g, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range links {
			target, err := os.Readlink(link)
			if err != nil {
				t.Fatal(err)
			}
			seen[filepath.Base(filepath.Dir(target))]++
		}
		if len(seen) == 1 && seen["quince"]+seen["medlar"] >= 3 && pure == 0 {
			pure++
			name := "quince"
			if seen["medlar"] > 0 {
				name = "medlar"
			}
			named := l.path("named", name)
			if err := os.MkdirAll(filepath.Dir(named), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(g, named); err != nil {
				t.Fatal(err)
			}
			l.must("learn", model, "--images", l.path("named"))
			l.must("label", model, "--images", all, "--out", l.path("out"))
			rows := l.table(l.path("out"), "labels.csv")
			right := 0
			for i, path := range column(t, rows, "path") {
				if strings.HasPrefix(path, name+"/") && column(t, rows, "label")[i] == name {
					right++
				}
			}
			if right < 4 {
				t.Errorf("%d of 6 photos of %s are recognised after learning", right, name)
			}
		}
	}
	if pure == 0 {
		t.Errorf("no group shows one new class only: %q", groups)
	}
	l.refused(exitUsage, []string{"not empty"}, "rank", model, "--images", all, "--by", "novelty", "--cluster-unknown", l.path("base"), "--out", l.path("novel.csv"))
}

// TestLabelReport: the report shows every photo of a small run, evaluates those
// whose folder is a class, and lists what failed; its limit holds.
func TestLabelReport(t *testing.T) {
	l := newTestbed(t)
	model, images := l.trained()
	l.photos(images, smallSide, 2, "2024 <b>summer")
	l.write(filepath.Join(images, "broken & bad.jpg"), []byte("no picture"))
	l.expect(exitPartial, "label", model, "--images", images, "--out", l.path("out"), "--report")
	page := string(l.read(l.path("out"), "report.html"))
	for what, want := range map[string]int{`<li class="card`: 26, "data:image/jpeg;base64,": 26, "broken &amp; bad.jpg": 1, "<b>summer": 0, `id="confusion"`: 1, `id="calibration"`: 1, "on 24 images of known classes": 1} {
		if n := strings.Count(page, what); n != want {
			t.Errorf("%q occurs %d times, want %d", what, n, want)
		}
	}
	l.expect(exitPartial, "label", model, "--images", images, "--out", l.path("few"), "--report", "--set", "label.thumbnails=5")
	few := string(l.read(l.path("few"), "report.html"))
	if n := strings.Count(few, `<li class="card`); n != 5 || !strings.Contains(few, "21 of 26 pictures are not shown") {
		t.Errorf("%d cards with a limit of 5", n)
	}
	strange := l.photos(l.path("strange"), smallSide, 2, "2023")
	l.must("label", model, "--images", strange, "--out", l.path("none"), "--report")
	if page := string(l.read(l.path("none"), "report.html")); strings.Contains(page, `id="confusion"`) {
		t.Error("folders that are no classes are taken for the truth")
	}
}
