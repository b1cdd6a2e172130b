package models_test

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/embedding/featdir"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/teach"
)

// openTaught opens the session of a model, as serve does.
func openTaught(l *commandtest.Bed, model string, d int) *teach.Session {
	l.Helper()
	return must.Get(teach.Open(teach.Options{Model: model, Dim: d, Temp: l.Dir}))(l)
}

// teachPhotos decides, as on the page, that the photos of a folder are of a class.
func teachPhotos(l *commandtest.Bed, model, folder, class string) (d int) {
	l.Helper()
	features := l.Path("features of " + filepath.Base(folder))
	l.Must("embed", "--images", folder, "--out", features)
	e := must.Get(featdir.Read(features))(l)
	s := openTaught(l, model, e.X.Cols)
	for i, sample := range e.Samples {
		id := teach.ID(sha256.Sum256(l.Read(folder, sample.Path)))
		must.Get(s.Teach([]teach.ID{id}, [][]float32{dense.Row32(e.X, i)}, class))(l)
	}
	must.Do(l, s.Close())
	return e.X.Cols
}

// learn and train add to the journal of a model that was taught: serve goes on with it, and
// one undo takes a folder back.
func TestLearnIntoAJournal(t *testing.T) {
	l := commandtest.New(t)
	model, _ := l.Trained()
	d := teachPhotos(l, model, l.Photos(l.Path("mine"), commandtest.SmallSide, 2, "pear"), "mine")
	for i, args := range [][]string{
		{"learn", model, "--images", l.Photos(l.Path("more"), commandtest.SmallSide, 2, "fig")},
		{"train", "--images", l.Photos(l.Path("others"), commandtest.SmallSide, 2, "date"), "--out", model},
	} {
		l.Must(args...)
		again := l.Must(args...)
		if !strings.Contains(again.Stderr+again.Stdout, "2 samples known already") {
			t.Errorf("%s again: %s", args[0], again.Stderr)
		}
		s := openTaught(l, model, d)
		if s.Status().Unsaved != 0 {
			t.Errorf("after %s, %d decisions are not in MODEL", args[0], s.Status().Unsaved)
		}
		must.Do(t, s.Close())
		if got := l.Must("inspect", model).Stdout; !strings.Contains(got, "mine") ||
			!strings.Contains(got, []string{"fig", "date"}[i]) {
			t.Errorf("after %s: %s", args[0], got)
		}
	}
	s := openTaught(l, model, d)
	must.Get(s.Undo())(t)
	for _, c := range s.Classes() {
		if c.Name == "date" && c.Learned > 0 {
			t.Errorf("undo left %d photos of the folder", c.Learned)
		}
	}
	must.Do(t, s.Close())
}

// A folder that contradicts decisions is refused, with five of them and the choice; other
// models and statistics do not take the place of one that was taught.
func TestLearnAgainstDecisions(t *testing.T) {
	l := commandtest.New(t)
	model, _ := l.Trained()
	photos := l.Photos(l.Path("mine"), commandtest.SmallSide, 7, "pear")
	teachPhotos(l, model, photos, "mine")
	before := l.Read(model + ".journal")
	learn := []string{"learn", model, "--images", photos}
	l.Refused(command.ExitFailed, []string{"7 photos", "pear/004.jpg", `"mine"`, "--prefer"}, learn...)
	if strings.Contains(l.Run(learn...).Stderr, "005.jpg") {
		t.Error("more than five conflicts are named")
	}
	l.Same("the journal", before, model+".journal")
	l.Refused(command.ExitUsage, []string{"--prefer", "decisions or list"}, append(learn, "--prefer", "both")...)
	for _, c := range [][2]string{{"decisions", "mine"}, {"list", "pear"}} {
		choice, want := c[0], c[1]
		l.Must(append(learn, "--prefer", choice)...)
		l.Must("label", model, "--images", photos, "--out", l.Path("out"))
		for i, got := range commandtest.Column(t, l.Table(l.Path("out"), "labels.csv"), "label") {
			if got != want {
				t.Errorf("--prefer %s: photo %d is %s", choice, i, got)
			}
		}
	}
	other := l.Path("other.model")
	l.Must("train", "--images", l.Path("base"), "--out", other)
	l.Must("stats", "collect", "--images", photos, "--out", l.Path("s.stats"))
	for _, args := range [][]string{
		{"learn", other, "--images", photos, "--out", model},
		{"learn", model, "--stats", l.Path("s.stats")},
		{"train", "--images", l.Path("base"), "--classifier", "ppca", "--out", model},
	} {
		l.Refused(command.ExitUsage, []string{"taught with serve", "--out"}, args...)
	}
	l.Refused(command.ExitUsage, []string{"--prefer", "leave it out"}, "learn", other, "--images", photos,
		"--prefer", "list")
}

// A class of a model that was taught is forgotten in MODEL, base and journal.
func TestForgetClassesOfAJournal(t *testing.T) {
	l := commandtest.New(t)
	model, _ := l.Trained()
	photos := l.Photos(l.Path("mine"), commandtest.SmallSide, 2, "pear")
	d := teachPhotos(l, model, photos, "mine")
	teachPhotos(l, model, l.Photos(l.Path("yours"), commandtest.SmallSide, 2, "fig"), "yours")
	l.Refused(command.ExitFailed, []string{`no class "other"`}, "forget", model, "--class", "other")
	l.Must("forget", model, "--class", "mine", "--class", "kiwi")
	for _, name := range []string{model, model + ".base"} {
		for _, class := range []string{"mine", "kiwi"} {
			if strings.Contains(l.Must("inspect", name).Stdout, class) {
				t.Errorf("%s has class %s", name, class)
			}
		}
	}
	hash := sha256.Sum256(l.Read(photos, "pear", "000.jpg"))
	if strings.Contains(string(l.Read(model+".journal")), teach.ID(hash).String()) {
		t.Error("the journal names a photo that was forgotten")
	}
	s := openTaught(l, model, d)
	if n := s.Status().Unsaved; n != 0 {
		t.Errorf("%d decisions are unsaved", n)
	}
	must.Do(t, s.Close())
}

// What two people decided with copies of a model becomes one, conflicts are named and chosen,
// and the command refuses everything besides.
func TestLearnFrom(t *testing.T) {
	l := commandtest.New(t)
	mine, _ := l.Trained()
	theirs := l.Path("theirs.model")
	l.Write(theirs, l.Read(mine))
	teachPhotos(l, mine, l.Photos(l.Path("half"), commandtest.SmallSide, 2, "pear"), "pear")
	teachPhotos(l, theirs, l.Photos(l.Path("other half"), commandtest.SmallSide, 2, "fig"), "fig")
	before := l.Read(theirs + ".journal")
	if r := l.Must("learn", mine, "--from", theirs); !strings.Contains(r.Stdout, "merged 2 photos") ||
		!strings.Contains(r.Stdout, "new classes: fig") {
		t.Errorf("learn --from says %q", r.Stdout)
	}
	l.Same("merging", before, theirs+".journal")
	if r := l.Must("inspect", mine); !strings.Contains(r.Stdout, "5 classes") {
		t.Errorf("merged: %s", r.Stdout)
	}
	teachPhotos(l, theirs, l.Path("half"), "quince")
	l.Refused(command.ExitFailed, []string{"2 photos have other labels in this project", "--prefer"}, "learn", mine,
		"--from", theirs)
	l.Must("learn", mine, "--from", theirs, "--prefer", "list")
	out := l.Path("labels")
	l.Must("label", mine, "--images", l.Path("half"), "--out", out)
	if got := commandtest.Column(t, l.Table(out, "labels.csv"), "label"); got[0] != "quince" || got[1] != "quince" {
		t.Errorf("preferred: %q", got)
	}
	l.Refused(command.ExitUsage, []string{"--from", "alone"}, "learn", mine, "--from", theirs, "--images",
		l.Path("half"))
	l.Refused(command.ExitFailed, []string{"it has no journal"}, "learn", mine, "--from", l.Path("nowhere.model"))
}

// A journal of 0.2.0 lacks the embedding of a photo that was set aside and that its model learned: a
// command finds it in the cache.
func TestEmbeddingsFromTheCache(t *testing.T) {
	l := commandtest.New(t)
	model := l.Path("many.model")
	images := l.Photos(l.Path("many"), commandtest.SmallSide, 22, "kiwi", "lime") // more than a model keeps
	l.Must("train", "--images", images, "--out", model, "--classifier", "ncm")
	teachPhotos(l, model, l.Photos(l.Path("mine"), commandtest.SmallSide, 2, "pear"), "pear")
	aside := sha256.Sum256(l.Read(images, "kiwi", "003.jpg"))
	journal := l.Read(model + ".journal")
	line := fmt.Sprintf(`{"seq":%d,"time":"2026-11-27T00:00:00Z","do":"ignore","images":["%x"]}`+"\n",
		strings.Count(string(journal), "\n")+1, aside)
	l.Write(model+".journal", append(journal, line...))
	more := l.Photos(l.Path("more"), commandtest.SmallSide, 2, "fig")
	l.Must("learn", model, "--images", more)
	if r := l.Must("inspect", model); !strings.Contains(r.Stdout, "4 classes from 47 samples") {
		t.Errorf("%s", r.Stdout)
	}
}
