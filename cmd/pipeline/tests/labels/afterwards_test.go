package labels

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestOrganise: each photo is once in the tree, in the folder of its class; the
// originals do not change; a second run gives the same tree.
func TestOrganise(t *testing.T) {
	l := commandtest.New(t)
	model, images := l.Trained()
	before := l.Tree(images)
	for _, how := range []string{"link", "copy"} {
		out := l.Path("out-" + how)
		for range 2 {
			l.Must("label", model, "--images", images, "--out", out, "--organise", how)
			rows := l.Table(out, "labels.csv")
			labels := commandtest.Column(t, rows, "label")
			for i, path := range commandtest.Column(t, rows, "path") {
				if string(l.Read(out, "by-class", labels[i], path)) != before["/"+path] {
					t.Errorf("%s: %s differs", how, path)
				}
			}
			if n := l.CountFiles(filepath.Join(out, "by-class")); n != len(rows)-1 {
				t.Errorf("%s: %d files for %d photos", how, n, len(rows)-1)
			}
		}
	}
	if after := l.Tree(images); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Error("the originals changed")
	}
	l.Refused(command.ExitUsage, []string{"organise", "move"}, "label", model, "--images", images, "--out", l.Path("o"),
		"--organise", "move")
}

// TestXMP: the class is in dc:subject next to the photo, a sidecar of another
// program stays and is one row of errors.csv, and a second run has the same
// counts as the first.
func TestXMP(t *testing.T) {
	l := commandtest.New(t)
	model, images := l.Trained()
	foreign := filepath.Join(images, "kiwi", "000.jpg.xmp")
	l.Write(foreign, []byte("<my-edits/>"))
	var summaries []string
	for range 2 {
		l.Expect(command.ExitPartial, "label", model, "--images", images, "--out", l.Path("out"), "--xmp")
		summary := l.Object(l.Path("out"), "summary.json")
		delete(summary, "timing")
		summaries = append(summaries, fmt.Sprint(summary))
	}
	if summaries[0] != summaries[1] {
		t.Errorf("the second run says\n%s\nthe first\n%s", summaries[1], summaries[0])
	}
	if string(l.Read(foreign)) != "<my-edits/>" {
		t.Error("a sidecar of another program was changed")
	}
	if failed := l.Table(l.Path("out"), "errors.csv"); len(failed) != 2 || failed[1][0] != "kiwi/000.jpg" ||
		!strings.Contains(failed[1][1], "left alone") {
		t.Errorf("errors %q", failed)
	}
	rows := l.Table(l.Path("out"), "labels.csv")
	labels := commandtest.Column(t, rows, "label")
	for i, path := range commandtest.Column(t, rows, "path") {
		if path == "kiwi/000.jpg" {
			continue
		}
		var meta struct {
			Subjects []string `xml:"RDF>Description>subject>Bag>li"`
		}
		if err := xml.Unmarshal(l.Read(images, path+".xmp"), &meta); err != nil ||
			!slices.Equal(meta.Subjects, labels[i:i+1]) {
			t.Errorf("%s: %v, %v", path, meta, err)
		}
	}
}

// TestRank: photos of a class in the folder of another come first by
// label-error, and strange ones by novelty.
func TestRank(t *testing.T) {
	l := commandtest.New(t)
	model, _ := l.Trained("--classifier", "ncm")
	seen := l.Photos(l.Path("seen"), commandtest.SmallSide, 12, "kiwi", "lime")
	for _, i := range []int{3, 4} {
		l.Write(filepath.Join(seen, "lime", fmt.Sprintf("wrong%d.jpg", i)),
			commandtest.Photo("plum", 100+i, commandtest.SmallSide))
	}
	l.Must("rank", model, "--images", seen, "--by", "label-error", "--top", "2", "--out", l.Path("wrong.csv"))
	rows := l.Table(l.Path("wrong.csv"))
	if got := commandtest.Column(t, rows, "path"); !slices.Equal(sorted(got),
		[]string{"lime/wrong3.jpg", "lime/wrong4.jpg"}) {
		t.Errorf("likely label errors: %q", rows)
	}
	for _, by := range []string{"entropy", "margin", "novelty", "doubt"} {
		l.Must("rank", model, "--images", seen, "--by", by, "--out", l.Path(by+".csv"))
		if n := len(l.Table(l.Path(by + ".csv"))); n != 27 {
			t.Errorf("%s: %d rows", by, n)
		}
	}
	l.Refused(command.ExitFailed, []string{"variance", "gpr"}, "rank", model, "--images", seen, "--by", "variance",
		"--out", l.Path("v.csv"))
	l.Refused(command.ExitUsage, []string{"entropy", "age"}, "rank", model, "--images", seen, "--by", "age", "--out",
		l.Path("v.csv"))
	l.Refused(command.ExitFailed, []string{"DIR/<class>"}, "rank", model, "--images",
		l.Photos(l.Path("others"), commandtest.SmallSide, 1, "x"), "--by", "label-error", "--out", l.Path("v.csv"))
}

// TestRankLearned: photos that were learned under a wrong class come first, each judged
// without it, and with the right class, so that the table can be learned; eval says that
// it measures on what was learned.
func TestRankLearned(t *testing.T) {
	l := commandtest.New(t)
	images := l.Photos(l.Path("images"), commandtest.SmallSide, 6, "kiwi", "lime", "plum")
	for _, i := range []int{3, 4} {
		l.Write(filepath.Join(images, "lime", fmt.Sprintf("wrong%d.jpg", i)),
			commandtest.Photo("plum", 100+i, commandtest.SmallSide))
	}
	model := l.Path("m.model")
	l.Must("train", "--images", images, "--out", model, "--classifier", "gpr")
	r := l.Must("rank", model, "--images", images, "--by", "label-error", "--top", "2", "--out", l.Path("wrong.csv"))
	rows := l.Table(l.Path("wrong.csv"))
	if got := commandtest.Column(t, rows, "path"); !slices.Equal(sorted(got),
		[]string{"lime/wrong3.jpg", "lime/wrong4.jpg"}) {
		t.Errorf("likely label errors: %q", rows)
	}
	if got := commandtest.Column(t, rows, "label"); !slices.Equal(got, []string{"plum", "plum"}) ||
		!strings.Contains(r.Stdout, "20 images learned by the model") {
		t.Errorf("labels %q, and rank says\n%s", got, r.Stdout)
	}
	if r := l.Must("eval", model, "--images", images); !strings.Contains(r.Stderr,
		"has learned some of these images") || !strings.Contains(r.Stderr, "images=20") {
		t.Errorf("eval of what was learned says\n%s%s", r.Stdout, r.Stderr)
	}
	large := l.Photos(l.Path("large"), commandtest.SmallSide, 24, "kiwi", "lime")
	l.Must("train", "--images", large, "--out", l.Path("large.model"), "--classifier", "ncm")
	if r := l.Must("rank", l.Path("large.model"), "--images", l.Path("large"), "--include", "kiwi/*", "--by",
		"label-error", "--out", l.Path("part.csv")); !strings.Contains(r.Stderr, "rank all that it has learned") ||
		!strings.Contains(r.Stderr, "missing=24 of=48") {
		t.Errorf("rank of a part of many images says\n%s%s", r.Stdout, r.Stderr)
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
	l := commandtest.New(t)
	images := l.Photos(l.Path("base"), commandtest.SmallSide, 24, "kiwi", "lime", "plum", "fig", "pear", "rose")
	model := l.Path("base.model")
	l.Must("train", "--images", images, "--out", model)
	all := l.Photos(l.Path("all"), commandtest.SmallSide, 6, "kiwi", "plum", "quince", "medlar")
	l.Must("rank", model, "--images", all, "--by", "novelty", "--cluster-unknown", l.Path("unknown"), "--out",
		l.Path("novel.csv"))
	groups, err := filepath.Glob(l.Path("unknown", "group-*"))
	if err != nil || len(groups) < 1 {
		t.Fatalf("groups %q, %v", groups, err)
	}
	pure := 0
	for _, g := range groups {
		seen := map[string]int{}
		links := must.Get(filepath.Glob(filepath.Join(g, "*")))(t)
		for _, link := range links {
			target := must.Get(os.Readlink(link))(t)
			seen[filepath.Base(filepath.Dir(target))]++
		}
		if len(seen) == 1 && seen["quince"]+seen["medlar"] >= 3 && pure == 0 {
			pure++
			name := "quince"
			if seen["medlar"] > 0 {
				name = "medlar"
			}
			named := l.Path("named", name)
			must.Do(t, os.MkdirAll(filepath.Dir(named), 0o755))
			must.Do(t, os.Rename(g, named))
			l.Must("learn", model, "--images", l.Path("named"))
			l.Must("label", model, "--images", all, "--out", l.Path("out"))
			rows := l.Table(l.Path("out"), "labels.csv")
			right := 0
			for i, path := range commandtest.Column(t, rows, "path") {
				if strings.HasPrefix(path, name+"/") && commandtest.Column(t, rows, "label")[i] == name {
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
	l.Refused(command.ExitUsage, []string{"not empty"}, "rank", model, "--images", all, "--by", "novelty",
		"--cluster-unknown", l.Path("base"), "--out", l.Path("novel.csv"))
}

// TestLabelReport: the report shows every photo of a small run, evaluates those
// whose folder is a class and that were not learned, and lists what failed; its limit holds.
func TestLabelReport(t *testing.T) {
	l := commandtest.New(t)
	model, images := l.Trained()
	classes := must.Get(filepath.Glob(filepath.Join(images, "*")))(t)
	for _, dir := range classes {
		l.Write(filepath.Join(dir, "new.jpg"), commandtest.Photo(filepath.Base(dir), 400, commandtest.SmallSide))
	}
	l.Photos(images, commandtest.SmallSide, 2, "2024 <b>summer")
	l.Write(filepath.Join(images, "broken & bad.jpg"), []byte("no picture"))
	l.Expect(command.ExitPartial, "label", model, "--images", images, "--out", l.Path("out"), "--report")
	page := string(l.Read(l.Path("out"), "report.html"))
	for what, want := range map[string]int{
		`<li class="card`: 29, "data:image/jpeg;base64,": 29, "broken &amp; bad.jpg": 1, "<b>summer": 0,
		`id="confusion"`: 1, `id="calibration"`: 1, "on 3 images of known classes": 1,
	} {
		if n := strings.Count(page, what); n != want {
			t.Errorf("%q occurs %d times, want %d", what, n, want)
		}
	}
	l.Expect(command.ExitPartial, "label", model, "--images", images, "--out", l.Path("few"), "--report", "--set",
		"label.thumbnails=5")
	few := string(l.Read(l.Path("few"), "report.html"))
	if n := strings.Count(few, `<li class="card`); n != 5 || !strings.Contains(few, "24 of 29 pictures are not shown") {
		t.Errorf("%d cards with a limit of 5", n)
	}
	strange := l.Photos(l.Path("strange"), commandtest.SmallSide, 2, "2023")
	l.Must("label", model, "--images", strange, "--out", l.Path("none"), "--report")
	if page := string(l.Read(l.Path("none"), "report.html")); strings.Contains(page, `id="confusion"`) {
		t.Error("folders that are no classes are taken for the truth")
	}
}
