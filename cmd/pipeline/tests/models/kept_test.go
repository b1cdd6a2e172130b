package models

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
	"github.com/seed-90d10d51/pipeline/method"
)

// lists are what label writes in each format that a list is read from; imagefolder has pictures
// beside its list.
var lists = map[string]string{
	"csv": "labels.csv", "jsonl": "labels.jsonl", "parquet": "labels.parquet", "coco": "coco/instances.json",
	"imagefolder": "imagefolder/metadata.jsonl", "label-studio": "label-studio/tasks.json",
	"camtrap-dp": "camtrap-dp/observations.csv",
}

// keep writes what the present version writes: a model of every method and of one behind a
// projection, what they label, statistics, a prior, a feature folder and lists.
func keep(l *commandtest.Bed, dir string) {
	l.Helper()
	features := filepath.Join(dir, "features")
	must.Do(l, os.CopyFS(features, os.DirFS(l.Foreign(4))))
	teach := func(name string, args ...string) {
		model := filepath.Join(dir, name+".model")
		l.Must(append(args, "--features", features, "--out", model, "--set", "classifier.vargp.epochs=20")...)
		l.Must("label", model, "--features", features, "--out", l.Path("kept"))
		l.Write(filepath.Join(dir, name+".csv"), l.Read(l.Path("kept"), "labels.csv"))
	}
	for _, m := range method.Methods() {
		teach(m.Name, "train", "--classifier", m.Name)
	}
	teach("projected", commandtest.Quickly("train", "--classifier", "plda")...)
	if err := os.RemoveAll(filepath.Join(dir, "projected.model.dkl")); err != nil { // pictures of the training
		l.Fatal(err)
	}
	l.Must("stats", "collect", "--features", features, "--out", filepath.Join(dir, "classes.stats"))
	model, images := l.Trained()
	for format, list := range lists {
		l.Must("label", model, "--images", images, "--format", format, "--out", l.Path(format), "--set",
			"label.file_times=true") // which camtrap-dp demands
		l.Write(filepath.Join(dir, list), l.Read(l.Path(format), list))
	}
	l.Must("embed", "--images", images, "--out", l.Path("embedded"))
	must.Do(l, os.CopyFS(filepath.Join(dir, "embedded"), os.DirFS(l.Path("embedded"))))
	l.Must("prior", "--features", features, "--out", filepath.Join(dir, "classes.prior"))
}

// TestKeptFiles: files of every earlier version are read, models of then label as they
// did then, and go on learning.
func TestKeptFiles(t *testing.T) {
	l := commandtest.New(t)
	testenv.Kept(t, func(dir string) { keep(l, dir) }, func(version, dir string) {
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
		readsKept(l, dir)
	})
}

// readsKept reads the prior, the feature folder and the lists of a version: each list teaches
// all 24 photos of the drawn folder, and the class of each.
func readsKept(l *commandtest.Bed, dir string) {
	l.Helper()
	out := l.Path("read.model")
	_, images := l.Trained()
	rows := l.Read(dir, "features", "embeddings.npy")
	for i := len(rows) - 1; i >= len(rows)-4*4*12; i -= 4 {
		rows[i] ^= 0x80 // of the other sign: other images than those of the prior
	}
	l.Write(l.Path("others", "embeddings.npy"), rows)
	l.Write(l.Path("others", "samples.csv"), l.Read(dir, "features", "samples.csv"))
	l.Must("train", "--prior", filepath.Join(dir, "classes.prior"), "--features", l.Path("others"), "--out", out)
	l.Must("train", "--features", filepath.Join(dir, "embedded"), "--out", out)
	for format, list := range lists {
		file := filepath.Join(dir, list)
		if format == "imagefolder" { // has the pictures
			must.Do(l, os.CopyFS(filepath.Dir(file), os.DirFS(images)))
		}
		l.Must("train", "--list", file, "--images", images, "--out", out, "--json", l.Path("read.json"))
		taught := fmt.Sprint(l.Object(l.Path("read.json"))["classes"])
		if want := "[map[class:kiwi samples:8 session:0] map[class:lime samples:8 session:0] " +
			"map[class:plum samples:8 session:0]]"; taught != want {
			l.Errorf("%s taught %s, want %s", list, taught, want)
		}
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
