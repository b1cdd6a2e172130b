package photos

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/imagelib"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/model"
)

const decoderNote = "the decoder of photos is"

// notes returns the notes in the summary of a labelled folder.
func notes(l *commandtest.Bed, out string) (notes []string) {
	l.Helper()
	all, _ := l.Object(out, "summary.json")["notes"].([]any)
	for _, n := range all {
		notes = append(notes, n.(string))
	}
	return notes
}

// TestModelIsNotTiedToADecoder: one line and a note say that a model is used with
// another decoder than the one that it was trained with.
func TestModelIsNotTiedToADecoder(t *testing.T) {
	l := commandtest.New(t)
	images := l.Photos(l.Path("base"), 1000, 4, "kiwi", "lime")
	models := map[string]string{"libraries": l.Path("libraries.model"), "go": l.Path("go.model")}
	for decoder, file := range models {
		l.Must("train", "--images", images, "--out", file, "--set", "preprocess.jpeg="+decoder)
		for _, here := range []string{"libraries", "go"} {
			out := l.Path(decoder + "_" + here)
			r := l.Must("label", file, "--images", images, "--out", out, "--set", "preprocess.jpeg="+here)
			if l.Timing(out, "inferred") != 0 && decoder == here {
				t.Error("embeddings of training were not reused")
			}
			want := 0
			if decoder != here {
				want = 1
			}
			if notes := notes(l, out); len(notes) != want || strings.Count(r.Stderr, decoderNote) != want ||
				slices.ContainsFunc(notes, func(n string) bool { return !strings.HasPrefix(n, decoderNote) }) {
				t.Errorf("model of %s, labelled with %s: notes %q\n%s", decoder, here, notes, r.Stderr)
			}
		}
	}
	more := l.Photos(l.Path("more"), 300, 3, "plum")
	features, statistics := l.Path("features"), func(decoder string) string { return l.Path(decoder + ".stats") }
	l.Must("embed", "--images", images, "--out", features, "--set", "preprocess.jpeg=go")
	for decoder := range models {
		l.Must("stats", "collect", "--images", l.Path(map[string]string{"libraries": "base", "go": "more"}[decoder]),
			"--out", statistics(decoder), "--set", "preprocess.jpeg="+decoder)
	}
	l.Write(l.Path("forget.csv"), []byte("path,label\nkiwi/000.jpg,kiwi\n"))
	for name, args := range map[string][]string{
		"eval":          {"eval", models["go"], "--images", images},
		"eval features": {"eval", models["libraries"], "--features", features},
		"rank":          {"rank", models["go"], "--images", images, "--out", l.Path("rank.csv")},
		"learn":         {"learn", models["go"], "--images", more, "--out", l.Path("learned.model")},
		"learn stats":   {"learn", models["libraries"], "--stats", statistics("go"), "--out", l.Path("summed.model")},
		"forget": {"forget", models["go"], "--samples", l.Path("forget.csv"), "--images", images, "--out",
			l.Path("forgotten.model")},
		"stats merge": {"stats", "merge", statistics("libraries"), statistics("go"), "--out", l.Path("all.stats")},
	} {
		if r := l.Must(args...); strings.Count(r.Stderr, decoderNote) != 1 {
			t.Errorf("%s: %s", name, r.Stderr)
		}
	}
	// Without the libraries, a model that was trained with them works all the same.
	t.Setenv(imagelib.Vips().Env, filepath.Join(l.Dir, "gone.so"))
	t.Setenv(imagelib.Heif().Env, filepath.Join(l.Dir, "gone.so"))
	l.Must("label", models["libraries"], "--images", images, "--out", l.Path("without"))
	if notes := notes(l, l.Path("without")); len(notes) != 1 || !strings.Contains(notes[0], "Go's here") {
		t.Errorf("without the library: %q", notes)
	}
}

// TestOtherFeaturesAreRefused: models whose probe pictures have other features
// here, and those without any, need the decoder that they were trained with.
func TestOtherFeaturesAreRefused(t *testing.T) {
	l := commandtest.New(t)
	images := l.Photos(l.Path("base"), 300, 4, "kiwi", "lime")
	file := l.Path("libraries.model")
	l.Must("train", "--images", images, "--out", file)
	for word, probes := range map[string]func(embedding.Probes) embedding.Probes{
		"mean cosine":        func(p embedding.Probes) embedding.Probes { p[0] += 10; return p },
		"cannot be compared": func(embedding.Probes) embedding.Probes { return nil },
	} {
		m := must.Get(model.Load(file))(t)
		m.Provenance.Probes = probes(m.Provenance.Probes)
		other := l.Path("other.model")
		must.Do(t, m.Save(other))
		l.Must("label", other, "--images", images, "--out", l.Path("o"))
		l.Refused(command.ExitFailed, []string{"preprocessing", "libvips", "train again", word}, "label", other,
			"--images", images, "--out", l.Path("o"), "--set", "preprocess.jpeg=go")
	}
}
