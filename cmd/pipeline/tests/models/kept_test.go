package models

import (
	"flag"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/method"
)

// keptFiles has a folder for each version of the program whose files later versions
// read; docs/formats.md says what is promised. -keep adds one.
var kept = flag.String("keep", "", "write the files of this `version` into testdata, for later versions to read")

const keptFiles = "testdata/kept"

// keep writes what the present version writes: a model of every method, what it labels,
// and statistics. Feature folders of other programs never change.
func keep(l *commandtest.Bed, dir string) {
	l.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		l.Fatal(err)
	}
	features := filepath.Join(dir, "features")
	if err := os.CopyFS(features, os.DirFS(l.Foreign(4))); err != nil {
		l.Fatal(err)
	}
	for _, m := range method.Methods() {
		model := filepath.Join(dir, m.Name+".model")
		l.Must("train", "--features", features, "--classifier", m.Name, "--out", model, "--set",
			"classifier.vargp.epochs=20")
		l.Must("label", model, "--features", features, "--out", l.Path("kept"))
		l.Write(filepath.Join(dir, m.Name+".csv"), l.Read(l.Path("kept"), "labels.csv"))
	}
	l.Must("stats", "collect", "--features", features, "--out", filepath.Join(dir, "classes.stats"))
}

// TestKeptFiles: files of every earlier version are read, models of then label as they
// did then, and go on learning.
func TestKeptFiles(t *testing.T) {
	l := commandtest.New(t)
	if *kept != "" {
		keep(l, filepath.Join(keptFiles, *kept))
	}
	versions, err := os.ReadDir(keptFiles)
	if err != nil || len(versions) == 0 {
		t.Fatalf("no kept files: %v", err)
	}
	for _, version := range versions {
		dir := l.Path(version.Name()) // a copy, which learns
		if err := os.CopyFS(dir, os.DirFS(filepath.Join(keptFiles, version.Name()))); err != nil {
			t.Fatal(err)
		}
		models, _ := filepath.Glob(filepath.Join(dir, "*.model"))
		if len(models) < 10 {
			t.Fatalf("%s: %d models", dir, len(models))
		}
		features := filepath.Join(dir, "features")
		l.Write(l.Path("more", "embeddings.npy"), l.Read(features, "embeddings.npy"))
		l.Write(l.Path("more", "samples.csv"), []byte(strings.NewReplacer(",a", ",d", ",b", ",d", ",c",
			",d").Replace(string(l.Read(features, "samples.csv")))))
		for _, model := range models {
			out := l.Path("labelled")
			l.Must("label", model, "--features", features, "--out", out)
			labelsAgree(l, model, l.Table(strings.TrimSuffix(model, ".model")+".csv"), l.Table(out, "labels.csv"))
			l.Must("inspect", model)
			l.Must("learn", model, "--features", l.Path("more"))
		}
		l.Must("train", "--stats", filepath.Join(dir, "classes.stats"), "--out", l.Path("of-stats.model"))
	}
}

// labelsAgree compares two tables of labels: the classes, and the probabilities as far
// as two processors agree.
func labelsAgree(l *commandtest.Bed, what string, want, got [][]string) {
	l.Helper()
	if len(want) != len(got) || strings.Join(want[0], ",") != strings.Join(got[0][:len(want[0])], ",") {
		l.Errorf("%s: %d rows of %q, want %d of %q", what, len(got), got[0], len(want), want[0])
		return
	}
	for i := 1; i < len(want); i++ {
		p, _ := strconv.ParseFloat(want[i][2], 64)
		q, err := strconv.ParseFloat(got[i][2], 64)
		if want[i][0] != got[i][0] || want[i][1] != got[i][1] || err != nil || math.Abs(p-q) > 1e-6 {
			l.Errorf("%s: row %d is %q, want %q", what, i, got[i], want[i])
		}
	}
}
