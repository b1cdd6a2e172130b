package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Three machines that each see some of the images, one image twice, give the model
// of one machine that sees all.
func TestStatsAcrossMachines(t *testing.T) {
	l := newTestbed(t)
	all := l.photos(l.path("all"), 40, 9, "ant", "bee", "cat")
	for i, part := range []string{"1", "2", "3"} {
		for _, class := range []string{"ant", "bee", "cat"} {
			for k := 3 * i; k < 3*i+3; k++ {
				l.write(l.path(part, class, string(rune('a'+k))+".jpg"), photo(class, k, 40))
			}
		}
	}
	l.write(l.path("3", "ant", "copy.jpg"), photo("ant", 0, 40)) // machine 1 has it under another name
	for _, part := range []string{"1", "2", "3"} {
		l.must("stats", "collect", "--images", l.path(part), "--out", l.path(part+".stats"))
	}
	l.must("stats", "merge", l.path("2.stats"), l.path("3.stats"), "--out", l.path("23.stats"))
	r := l.must("stats", "merge", l.path("23.stats"), l.path("1.stats"), "--out", l.path("123.stats"))
	for _, word := range []string{"27 samples of 3 classes", "1 sample in more than one file"} {
		if !strings.Contains(r.stdout, word) {
			t.Errorf("merge does not say %q:\n%s", word, r.stdout)
		}
	}
	l.must("stats", "merge", l.path("1.stats"), l.path("2.stats"), l.path("3.stats"), "--out", l.path("other.stats"))
	if !bytes.Equal(l.read(l.path("123.stats")), l.read(l.path("other.stats"))) {
		t.Error("another order and grouping of so few images gives other bytes")
	}
	same := []string{"--classifier", "plda", "--set", "classifier.temperature=1"}
	l.must(append([]string{"train", "--stats", l.path("123.stats"), "--out", l.path("merged.model")}, same...)...)
	l.must(append([]string{"train", "--images", all, "--out", l.path("one.model")}, same...)...)
	for _, m := range []string{"merged", "one"} {
		l.must("label", l.path(m+".model"), "--images", all, "--out", l.path(m))
	}
	a, b := l.table(l.path("merged", "labels.csv")), l.table(l.path("one", "labels.csv"))
	if !slices.Equal(column(t, a, "label"), column(t, b, "label")) || len(a) != 28 {
		t.Error("the models label differently")
	}
	if r := l.must("learn", l.path("merged.model"), "--images", all); !strings.Contains(r.stdout, "27 samples known already") {
		t.Errorf("what was counted is learned again:\n%s", r.stdout)
	}
	if r := l.must("inspect", l.path("merged.model")); !strings.Contains(r.stdout, "27 samples") || !strings.Contains(r.stdout, "no examples to hold out") {
		t.Errorf("inspect:\n%s", r.stdout)
	}
}

// Statistics of another machine are added to a model, which then is that of all
// images.
func TestLearnStats(t *testing.T) {
	l := newTestbed(t)
	all := l.photos(l.path("all"), 40, 6, "ant", "bee", "cat")
	for i, part := range []string{"here", "there"} {
		for _, class := range []string{"ant", "bee", "cat"} {
			for k := 3 * i; k < 3*i+3; k++ {
				if class != "cat" || part == "there" { // no cat here
					l.write(l.path(part, class, string(rune('a'+k))+".jpg"), photo(class, k, 40))
				}
			}
		}
	}
	l.write(l.path("there", "cat", "x.jpg"), photo("cat", 0, 40))
	l.write(l.path("there", "cat", "y.jpg"), photo("cat", 1, 40))
	l.write(l.path("there", "cat", "z.jpg"), photo("cat", 2, 40))
	same := []string{"--classifier", "ppca", "--set", "classifier.ppca.lambda=0.01", "--set", "classifier.temperature=1"}
	l.must(append([]string{"train", "--images", l.path("here"), "--out", l.path("here.model")}, same...)...)
	l.must(append([]string{"train", "--images", all, "--out", l.path("all.model")}, same...)...)
	l.must("stats", "collect", "--images", l.path("there"), "--out", l.path("there.stats"))
	r := l.must("learn", l.path("here.model"), "--stats", l.path("there.stats"), "--out", l.path("sum.model"))
	if !strings.Contains(r.stdout, "learned 12 samples, 1 new class") || !strings.Contains(r.stdout, "more samples of ant, bee") {
		t.Errorf("learn says:\n%s", r.stdout)
	}
	for _, m := range []string{"sum", "all"} {
		l.must("label", l.path(m+".model"), "--images", all, "--out", l.path(m))
	}
	a, b := l.table(l.path("sum", "labels.csv")), l.table(l.path("all", "labels.csv"))
	if !slices.Equal(column(t, a, "label"), column(t, b, "label")) || !slices.Equal(column(t, a, "probability"), column(t, b, "probability")) || len(a) != 19 {
		t.Errorf("the models label differently:\n%v\n%v", a, b)
	}
	if r := l.must("learn", l.path("sum.model"), "--stats", l.path("there.stats")); !strings.Contains(r.stdout, "12 samples known already") {
		t.Errorf("statistics are learned twice:\n%s", r.stdout)
	}
	l.refused(exitUsage, []string{"different inputs"}, "learn", l.path("sum.model"), "--stats", l.path("there.stats"), "--images", all)
	l.must("train", "--images", all, "--classifier", "hppca", "--out", l.path("h.model"))
	l.refused(exitFailed, []string{"there.stats", "hppca learns only from examples", "stats --help"}, "learn", l.path("h.model"), "--stats", l.path("there.stats"))
}

// Features and images of the same folder give the same statistics, but count
// different contents.
func TestStatsOfFeatures(t *testing.T) {
	l := newTestbed(t)
	photos := l.photos(l.path("photos"), 40, 4, "ant", "bee")
	l.must("embed", "--images", photos, "--out", l.path("features"))
	l.must("stats", "collect", "--features", l.path("features"), "--out", l.path("f.stats"))
	l.must("train", "--stats", l.path("f.stats"), "--out", l.path("f.model"))
	l.must("label", l.path("f.model"), "--images", photos, "--out", l.path("labels")) // the backbone is known from meta.json
	r := l.must("stats", "collect", "--features", l.path("features"), "--except", l.path("f.stats"), "--out", l.path("rest.stats"))
	if !strings.Contains(r.stdout, "counted 0 samples") || !strings.Contains(r.stdout, "8 samples counted before") {
		t.Errorf("--except:\n%s", r.stdout)
	}
	l.must("stats", "merge", l.path("rest.stats"), l.path("f.stats"), "--out", l.path("sum.stats"))
	if !bytes.Equal(l.read(l.path("sum.stats")), l.read(l.path("f.stats"))) {
		t.Error("merging with an empty file changed the bytes")
	}
}

func TestStatsRefusals(t *testing.T) {
	l := newTestbed(t)
	photos := l.photos(l.path("photos"), 40, 3, "ant", "bee")
	good, raw := l.path("good.stats"), l.path("raw.stats")
	l.must("stats", "collect", "--images", photos, "--out", good)
	l.must("stats", "collect", "--images", photos, "--raw", "--out", raw)
	l.must("stats", "collect", "--images", photos, "--set", "preprocess.orientation=false", "--out", l.path("pixels.stats"))
	foreign := l.foreign(7)
	l.must("stats", "collect", "--features", foreign, "--out", l.path("foreign.stats"))
	l.must("train", "--images", photos, "--out", l.path("m.model"))
	cut := l.path("cut.stats")
	l.write(cut, l.read(good)[:500])
	for _, c := range []struct {
		code  int
		words []string
		args  []string
	}{
		{exitFailed, []string{"--raw"}, []string{"merge", good, raw}},
		{exitFailed, []string{"another preprocessing", "orientation is"}, []string{"merge", good, l.path("pixels.stats")}},
		{exitFailed, []string{"another backbone", "dimensions"}, []string{"merge", good, l.path("foreign.stats")}},
		{exitFailed, []string{"cut.stats", "too short"}, []string{"merge", cut, good}},
		{exitFailed, []string{"not a statistics file"}, []string{"merge", good, l.path("m.model")}},
		{exitUsage, []string{"STATS is missing"}, []string{"merge"}},
		{exitUsage, []string{"--images"}, []string{"collect"}},
		{exitUsage, []string{"two different inputs"}, []string{"collect", "--images", photos, "--features", foreign}},
	} {
		l.refused(c.code, c.words, append(append([]string{"stats"}, c.args...), "--out", l.path("out.stats"))...)
		if l.exists(l.path("out.stats")) {
			t.Fatalf("%q wrote something", c.args)
		}
	}
	l.refused(exitUsage, []string{"--out is missing"}, "stats", "merge", good)
	l.refused(exitFailed, []string{"not replaced"}, "stats", "merge", good, "--out", l.path("m.model"))
	l.refused(exitFailed, []string{"with --raw"}, "train", "--stats", good, "--classifier", "ppca", "--set", "classifier.ppca.preset=paper", "--out", l.path("p.model"))
	l.refused(exitUsage, []string{"different inputs"}, "train", "--stats", good, "--images", photos, "--out", l.path("p.model"))
	l.must("train", "--stats", raw, "--classifier", "ppca", "--set", "classifier.ppca.preset=paper", "--out", l.path("p.model"))
}

// One image that cannot be read is reported, and the others are counted.
func TestStatsOfHostileFolder(t *testing.T) {
	l := newTestbed(t)
	photos := l.photos(l.path("photos"), 40, 3, "ant")
	l.write(filepath.Join(photos, "ant", "broken.jpg"), []byte("no image"))
	out := l.path("s.stats")
	l.expect(exitPartial, "stats", "collect", "--images", photos, "--out", out)
	if rows := l.table(out + ".errors.csv"); len(rows) != 2 || !strings.Contains(rows[1][0], "broken.jpg") {
		t.Errorf("%q", rows)
	}
	if err := os.Remove(filepath.Join(photos, "ant", "broken.jpg")); err != nil {
		t.Fatal(err)
	}
	l.must("stats", "collect", "--images", photos, "--out", out)
	if l.exists(out + ".errors.csv") {
		t.Error("the errors of the first run are still there")
	}
}
