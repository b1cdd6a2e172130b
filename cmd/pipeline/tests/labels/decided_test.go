package labels_test

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/embedding/featdir"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/teach"
)

// decide teaches a model, as on the page, that photos of a folder are of a class.
func decide(l *commandtest.Bed, model, folder, class string, photos ...string) {
	l.Helper()
	features := l.Path("features of " + filepath.Base(folder))
	l.Must("embed", "--images", folder, "--out", features)
	e := must.Get(featdir.Read(features))(l)
	s := must.Get(teach.Open(teach.Options{Model: model, Dim: e.X.Cols, Temp: l.Dir}))(l)
	for i, sample := range e.Samples {
		if !slices.Contains(photos, sample.Path) {
			continue
		}
		id := teach.ID(sha256.Sum256(l.Read(folder, sample.Path)))
		must.Get(s.Teach([]teach.ID{id}, [][]float32{dense.Row32(e.X, i)}, class))(l)
	}
	must.Do(l, s.Close())
}

// What a person decided is what every result says, before MODEL has learned it, also of
// copies and of photos that were moved.
func TestDecisionsWinEverywhere(t *testing.T) {
	l := commandtest.New(t)
	model, _ := l.Trained()
	photos := l.Photos(l.Path("photos"), commandtest.SmallSide, 3, "kiwi", "lime")
	decide(l, model, photos, "plum", "kiwi/000.jpg", "kiwi/001.jpg")
	for from, to := range map[string]string{"kiwi/000.jpg": "lime/moved.jpg"} {
		must.Do(t, os.Rename(filepath.Join(photos, from), filepath.Join(photos, to)))
	}
	l.Write(filepath.Join(photos, "copy.jpg"), l.Read(photos, "kiwi/001.jpg"))

	l.Write(filepath.Join(photos, "new.jpg"), commandtest.Photo("fig", 0, commandtest.SmallSide))

	out := l.Path("out")
	l.Must("label", model, "--images", photos, "--out", out, "--organise", "copy", "--xmp", "--report")
	rows := l.Table(out, "labels.csv")
	decided := map[string]bool{"copy.jpg": true, "kiwi/001.jpg": true, "lime/moved.jpg": true}
	labels, by := commandtest.Column(t, rows, "label"), commandtest.Column(t, rows, "by")
	for i, path := range commandtest.Column(t, rows, "path") {
		if got := labels[i] == "plum" && by[i] == "person"; got != decided[path] {
			t.Errorf("%s is %s by %q", path, labels[i], by[i])
		}
		if decided[path] && !l.Exists(out, "by-class", "plum", path) {
			t.Errorf("%s is not in its class folder", path)
		}
		if decided[path] && !l.Exists(photos, path+".xmp") {
			t.Errorf("%s has no sidecar", path)
		}
	}
	if got := l.Object(out, "summary.json")["decided"].(map[string]any)["person"]; got != 3. {
		t.Errorf("summary.json counts %v decided by a person", got)
	}

	l.Must("label", model, "--images", photos, "--out", l.Path("only"), "--only", "decided")
	got := commandtest.Column(t, l.Table(l.Path("only"), "labels.csv"), "path")
	want := slices.DeleteFunc(commandtest.Column(t, rows, "path"), func(path string) bool { return path == "new.jpg" })
	if !slices.Equal(got, want) { // all others are decided: the model learned the same photos
		t.Errorf("--only decided writes %q, want %q", got, want)
	}
	l.Refused(command.ExitUsage, []string{"only", "decided"}, "label", model, "--images", photos, "--out",
		l.Path("only"), "--only", "some")
	l.Must("rank", model, "--images", photos, "--by", "margin", "--out", l.Path("look.csv"))
	for _, path := range commandtest.Column(t, l.Table(l.Path("look.csv")), "path") {
		if decided[path] {
			t.Errorf("rank asks for %s again", path)
		}
	}
	l.Must("eval", model, "--images", photos, "--json", l.Path("eval.json"))
	for _, class := range l.Object(l.Path("eval.json"))["per_class"].([]any) {
		if c := class.(map[string]any); c["class"] == "plum" && c["n"] != 3. {
			t.Errorf("eval counts %v photos of plum", c["n"])
		}
	}
}
