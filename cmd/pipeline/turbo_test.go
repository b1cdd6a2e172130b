package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/internal/turbojpeg"
	"github.com/seed-90d10d51/pipeline/model"
)

// newTurboTestbed is a testbed with libjpeg-turbo, whose folder a new home would
// hide. It skips the test on a machine without the library.
func newTurboTestbed(t *testing.T) *testbed {
	t.Helper()
	library, err := turbojpeg.Locate()
	if err != nil {
		t.Skip(err)
	}
	l := newTestbed(t)
	t.Setenv(turbojpeg.EnvLibrary, library)
	return l
}

const decoderNote = "the decoder of photos is"

// notes returns the notes in the summary of a labelled folder.
func (l *testbed) notes(out string) (notes []string) {
	l.Helper()
	all, _ := l.object(out, "summary.json")["notes"].([]any)
	for _, n := range all {
		notes = append(notes, n.(string))
	}
	return notes
}

// TestModelIsNotTiedToADecoder: one line and a note say that a model is used with
// another decoder than the one that it was trained with.
func TestModelIsNotTiedToADecoder(t *testing.T) {
	l := newTurboTestbed(t)
	images := l.photos(l.path("base"), 1000, 4, "kiwi", "lime")
	models := map[string]string{"turbo": l.path("turbo.model"), "go": l.path("go.model")}
	for decoder, file := range models {
		l.must("train", "--images", images, "--out", file, "--set", "preprocess.jpeg="+decoder)
		for _, here := range []string{"turbo", "go"} {
			out := l.path(decoder + "_" + here)
			r := l.must("label", file, "--images", images, "--out", out, "--set", "preprocess.jpeg="+here)
			if l.timing(out, "inferred") != 0 && decoder == here {
				t.Error("embeddings of training were not reused")
			}
			want := 0
			if decoder != here {
				want = 1
			}
			if notes := l.notes(out); len(notes) != want || strings.Count(r.stderr, decoderNote) != want || slices.ContainsFunc(notes, func(n string) bool { return !strings.HasPrefix(n, decoderNote) }) {
				t.Errorf("model of %s, labelled with %s: notes %q\n%s", decoder, here, notes, r.stderr)
			}
		}
	}
	more := l.photos(l.path("more"), 300, 3, "plum")
	features, statistics := l.path("features"), func(decoder string) string { return l.path(decoder + ".stats") }
	l.must("embed", "--images", images, "--out", features, "--set", "preprocess.jpeg=go")
	for decoder := range models {
		l.must("stats", "collect", "--images", l.path(map[string]string{"turbo": "base", "go": "more"}[decoder]), "--out", statistics(decoder), "--set", "preprocess.jpeg="+decoder)
	}
	l.write(l.path("forget.csv"), []byte("path,label\nkiwi/000.jpg,kiwi\n"))
	for name, args := range map[string][]string{
		"eval":          {"eval", models["go"], "--images", images},
		"eval features": {"eval", models["turbo"], "--features", features},
		"rank":          {"rank", models["go"], "--images", images, "--out", l.path("rank.csv")},
		"learn":         {"learn", models["go"], "--images", more, "--out", l.path("learned.model")},
		"learn stats":   {"learn", models["turbo"], "--stats", statistics("go"), "--out", l.path("summed.model")},
		"forget":        {"forget", models["go"], "--samples", l.path("forget.csv"), "--images", images, "--out", l.path("forgotten.model")},
		"stats merge":   {"stats", "merge", statistics("turbo"), statistics("go"), "--out", l.path("all.stats")},
	} {
		if r := l.must(args...); strings.Count(r.stderr, decoderNote) != 1 {
			t.Errorf("%s: %s", name, r.stderr)
		}
	}
	// Without the library, a model that was trained with it works all the same.
	t.Setenv(turbojpeg.EnvLibrary, filepath.Join(l.dir, "gone.so"))
	l.must("label", models["turbo"], "--images", images, "--out", l.path("without"))
	if notes := l.notes(l.path("without")); len(notes) != 1 || !strings.Contains(notes[0], "Go's here") {
		t.Errorf("without the library: %q", notes)
	}
}

// TestOtherFeaturesAreRefused: models whose probe pictures have other features
// here, and those without any, need the decoder that they were trained with.
func TestOtherFeaturesAreRefused(t *testing.T) {
	l := newTurboTestbed(t)
	images := l.photos(l.path("base"), 300, 4, "kiwi", "lime")
	file := l.path("turbo.model")
	l.must("train", "--images", images, "--out", file)
	for word, probes := range map[string]func(embed.Probes) embed.Probes{
		"mean cosine":        func(p embed.Probes) embed.Probes { p[0] += 10; return p },
		"cannot be compared": func(embed.Probes) embed.Probes { return nil },
	} {
		m, err := model.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		m.Provenance.Probes = probes(m.Provenance.Probes)
		other := l.path("other.model")
		if err := m.Save(other); err != nil {
			t.Fatal(err)
		}
		l.must("label", other, "--images", images, "--out", l.path("o"))
		l.refused(exitFailed, []string{"preprocessing", "libjpeg-turbo", "train again", word}, "label", other, "--images", images, "--out", l.path("o"), "--set", "preprocess.jpeg=go")
	}
}
