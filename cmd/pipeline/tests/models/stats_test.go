package models

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// Three machines that each see some of the images, one image twice, give the model
// of one machine that sees all.
func TestStatsAcrossMachines(t *testing.T) {
	l := commandtest.New(t)
	all := l.Photos(l.Path("all"), 40, 9, "ant", "bee", "cat")
	for i, part := range []string{"1", "2", "3"} {
		for _, class := range []string{"ant", "bee", "cat"} {
			for k := 3 * i; k < 3*i+3; k++ {
				l.Write(l.Path(part, class, string(rune('a'+k))+".jpg"), commandtest.Photo(class, k, 40))
			}
		}
	}
	l.Write(l.Path("3", "ant", "copy.jpg"), commandtest.Photo("ant", 0, 40)) // machine 1 has it under another name
	for _, part := range []string{"1", "2", "3"} {
		l.Must("stats", "collect", "--images", l.Path(part), "--out", l.Path(part+".stats"))
	}
	l.Must("stats", "merge", l.Path("2.stats"), l.Path("3.stats"), "--out", l.Path("23.stats"))
	r := l.Must("stats", "merge", l.Path("23.stats"), l.Path("1.stats"), "--out", l.Path("123.stats"))
	for _, word := range []string{"27 samples of 3 classes", "1 sample in more than one file"} {
		if !strings.Contains(r.Stdout, word) {
			t.Errorf("merge does not say %q:\n%s", word, r.Stdout)
		}
	}
	l.Must("stats", "merge", l.Path("1.stats"), l.Path("2.stats"), l.Path("3.stats"), "--out", l.Path("other.stats"))
	if !bytes.Equal(l.Read(l.Path("123.stats")), l.Read(l.Path("other.stats"))) {
		t.Error("another order and grouping of so few images gives other bytes")
	}
	same := []string{"--classifier", "plda", "--set", "classifier.temperature=1"}
	l.Must(append([]string{"train", "--stats", l.Path("123.stats"), "--out", l.Path("merged.model")}, same...)...)
	l.Must(append([]string{"train", "--images", all, "--out", l.Path("one.model")}, same...)...)
	for _, m := range []string{"merged", "one"} {
		l.Must("label", l.Path(m+".model"), "--images", all, "--out", l.Path(m))
	}
	a, b := l.Table(l.Path("merged", "labels.csv")), l.Table(l.Path("one", "labels.csv"))
	if !slices.Equal(commandtest.Column(t, a, "label"), commandtest.Column(t, b, "label")) || len(a) != 28 {
		t.Error("the models label differently")
	}
	if r := l.Must("learn", l.Path("merged.model"), "--images", all); !strings.Contains(r.Stdout,
		"27 samples known already") {
		t.Errorf("what was counted is learned again:\n%s", r.Stdout)
	}
	if r := l.Must("inspect", l.Path("merged.model")); !strings.Contains(r.Stdout, "27 samples") ||
		!strings.Contains(r.Stdout, "no examples to hold out") {
		t.Errorf("inspect:\n%s", r.Stdout)
	}
}

// Statistics of another machine are added to a model, which then is that of all
// images.
func TestLearnStats(t *testing.T) {
	l := commandtest.New(t)
	all := l.Photos(l.Path("all"), 40, 6, "ant", "bee", "cat")
	for i, part := range []string{"here", "there"} {
		for _, class := range []string{"ant", "bee", "cat"} {
			for k := 3 * i; k < 3*i+3; k++ {
				if class != "cat" || part == "there" { // no cat here
					l.Write(l.Path(part, class, string(rune('a'+k))+".jpg"), commandtest.Photo(class, k, 40))
				}
			}
		}
	}
	l.Write(l.Path("there", "cat", "x.jpg"), commandtest.Photo("cat", 0, 40))
	l.Write(l.Path("there", "cat", "y.jpg"), commandtest.Photo("cat", 1, 40))
	l.Write(l.Path("there", "cat", "z.jpg"), commandtest.Photo("cat", 2, 40))
	same := []string{"--classifier", "ppca", "--set", "classifier.ppca.lambda=0.01", "--set",
		"classifier.temperature=1"}
	l.Must(append([]string{"train", "--images", l.Path("here"), "--out", l.Path("here.model")}, same...)...)
	l.Must(append([]string{"train", "--images", all, "--out", l.Path("all.model")}, same...)...)
	l.Must("stats", "collect", "--images", l.Path("there"), "--out", l.Path("there.stats"))
	r := l.Must("learn", l.Path("here.model"), "--stats", l.Path("there.stats"), "--out", l.Path("sum.model"))
	if !strings.Contains(r.Stdout, "learned 12 samples, 1 new class") ||
		!strings.Contains(r.Stdout, "more samples of ant, bee") {
		t.Errorf("learn says:\n%s", r.Stdout)
	}
	for _, m := range []string{"sum", "all"} {
		l.Must("label", l.Path(m+".model"), "--images", all, "--out", l.Path(m))
	}
	a, b := l.Table(l.Path("sum", "labels.csv")), l.Table(l.Path("all", "labels.csv"))
	if !slices.Equal(commandtest.Column(t, a, "label"), commandtest.Column(t, b, "label")) ||
		!slices.Equal(commandtest.Column(t, a, "probability"), commandtest.Column(t, b, "probability")) ||
		len(a) != 19 {
		t.Errorf("the models label differently:\n%v\n%v", a, b)
	}
	if r := l.Must("learn", l.Path("sum.model"), "--stats", l.Path("there.stats")); !strings.Contains(r.Stdout,
		"12 samples known already") {
		t.Errorf("statistics are learned twice:\n%s", r.Stdout)
	}
	l.Refused(command.ExitUsage, []string{"different inputs"}, "learn", l.Path("sum.model"), "--stats",
		l.Path("there.stats"), "--images", all)
	l.Must("train", "--images", all, "--classifier", "hppca", "--out", l.Path("h.model"))
	l.Refused(command.ExitFailed, []string{"there.stats", "hppca learns only from examples", "stats --help"}, "learn",
		l.Path("h.model"), "--stats", l.Path("there.stats"))
}

// Features and images of the same folder give the same statistics, but count
// different contents.
func TestStatsOfFeatures(t *testing.T) {
	l := commandtest.New(t)
	photos := l.Photos(l.Path("photos"), 40, 4, "ant", "bee")
	l.Must("embed", "--images", photos, "--out", l.Path("features"))
	l.Must("stats", "collect", "--features", l.Path("features"), "--out", l.Path("f.stats"))
	l.Must("train", "--stats", l.Path("f.stats"), "--out", l.Path("f.model"))
	// the backbone is known from meta.json
	l.Must("label", l.Path("f.model"), "--images", photos, "--out", l.Path("labels"))
	r := l.Must("stats", "collect", "--features", l.Path("features"), "--except", l.Path("f.stats"), "--out",
		l.Path("rest.stats"))
	if !strings.Contains(r.Stdout, "counted 0 samples") || !strings.Contains(r.Stdout, "8 samples counted before") {
		t.Errorf("--except:\n%s", r.Stdout)
	}
	l.Must("stats", "merge", l.Path("rest.stats"), l.Path("f.stats"), "--out", l.Path("sum.stats"))
	if !bytes.Equal(l.Read(l.Path("sum.stats")), l.Read(l.Path("f.stats"))) {
		t.Error("merging with an empty file changed the bytes")
	}
}

// TestStatsOfShards: the parts of a folder, merged, are the statistics of all of it.
func TestStatsOfShards(t *testing.T) {
	l := commandtest.New(t)
	photos := l.Photos(l.Path("photos"), 40, 4, "ant", "bee", "cat")
	l.Must("stats", "collect", "--images", photos, "--out", l.Path("all.stats"))
	merge, counted := []string{"stats", "merge", "--out", l.Path("sum.stats")}, 0
	for i := 1; i <= 3; i++ {
		part := l.Path(fmt.Sprintf("part-%d.stats", i))
		r := l.Must("stats", "collect", "--images", photos, "--shard", fmt.Sprintf("%d/3", i), "--out", part)
		n, _ := strconv.Atoi(strings.Fields(r.Stdout)[1])
		if counted, merge = counted+n, append(merge, part); n == 12 {
			t.Errorf("part %d of 3 has all photos", i)
		}
	}
	if r := l.Must(merge...); counted != 12 || !strings.Contains(r.Stdout, "12 samples of 3 classes") {
		t.Errorf("the parts have %d of 12 photos:\n%s", counted, r.Stdout)
	}
	if !bytes.Equal(l.Read(l.Path("sum.stats")), l.Read(l.Path("all.stats"))) {
		t.Error("the parts together are not the whole")
	}
}

func TestStatsRefusals(t *testing.T) {
	l := commandtest.New(t)
	photos := l.Photos(l.Path("photos"), 40, 3, "ant", "bee")
	good, raw := l.Path("good.stats"), l.Path("raw.stats")
	l.Must("stats", "collect", "--images", photos, "--out", good)
	l.Must("stats", "collect", "--images", photos, "--raw", "--out", raw)
	l.Must("stats", "collect", "--images", photos, "--set", "preprocess.orientation=false", "--out",
		l.Path("pixels.stats"))
	foreign := l.Foreign(7)
	l.Must("stats", "collect", "--features", foreign, "--out", l.Path("foreign.stats"))
	l.Must("train", "--images", photos, "--out", l.Path("m.model"))
	cut := l.Path("cut.stats")
	l.Write(cut, l.Read(good)[:500])
	for _, c := range []struct {
		code  int
		words []string
		args  []string
	}{
		{command.ExitFailed, []string{"--raw"}, []string{"merge", good, raw}},
		{command.ExitFailed, []string{"another preprocessing", "orientation is"},
			[]string{"merge", good, l.Path("pixels.stats")}},
		{command.ExitFailed, []string{"another backbone", "dimensions"},
			[]string{"merge", good, l.Path("foreign.stats")}},
		{command.ExitFailed, []string{"cut.stats", "too short"}, []string{"merge", cut, good}},
		{command.ExitFailed, []string{"not a statistics file"}, []string{"merge", good, l.Path("m.model")}},
		{command.ExitUsage, []string{"STATS is missing"}, []string{"merge"}},
		{command.ExitUsage, []string{"--images"}, []string{"collect"}},
		{command.ExitUsage, []string{"two different inputs"},
			[]string{"collect", "--images", photos, "--features", foreign}},
	} {
		l.Refused(c.code, c.words, append(append([]string{"stats"}, c.args...), "--out", l.Path("out.stats"))...)
		if l.Exists(l.Path("out.stats")) {
			t.Fatalf("%q wrote something", c.args)
		}
	}
	l.Refused(command.ExitUsage, []string{"--out is missing"}, "stats", "merge", good)
	l.Refused(command.ExitFailed, []string{"not replaced"}, "stats", "merge", good, "--out", l.Path("m.model"))
	l.Refused(command.ExitFailed, []string{"with --raw"}, "train", "--stats", good, "--classifier", "ppca", "--set",
		"classifier.ppca.preset=paper", "--out", l.Path("p.model"))
	l.Refused(command.ExitUsage, []string{"different inputs"}, "train", "--stats", good, "--images", photos, "--out",
		l.Path("p.model"))
	l.Must("train", "--stats", raw, "--classifier", "ppca", "--set", "classifier.ppca.preset=paper", "--out",
		l.Path("p.model"))
}

// One image that cannot be read is reported, and the others are counted.
func TestStatsOfHostileFolder(t *testing.T) {
	l := commandtest.New(t)
	photos := l.Photos(l.Path("photos"), 40, 3, "ant")
	l.Write(filepath.Join(photos, "ant", "broken.jpg"), []byte("no image"))
	out := l.Path("s.stats")
	l.Expect(command.ExitPartial, "stats", "collect", "--images", photos, "--out", out)
	if rows := l.Table(out + ".errors.csv"); len(rows) != 2 || !strings.Contains(rows[1][0], "broken.jpg") {
		t.Errorf("%q", rows)
	}
	must.Do(t, os.Remove(filepath.Join(photos, "ant", "broken.jpg")))
	l.Must("stats", "collect", "--images", photos, "--out", out)
	if l.Exists(out + ".errors.csv") {
		t.Error("the errors of the first run are still there")
	}
}
