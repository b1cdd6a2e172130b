package labels

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
)

// TestNoAccuracyOfLearnedPhotos: a report of labels measures nothing on photos that the model has learned, whatever
// their folders say, and eval says of every figure that they are among its photos.
func TestNoAccuracyOfLearnedPhotos(t *testing.T) {
	l := commandtest.New(t)
	images := l.Photos(l.Path("images"), commandtest.SmallSide, 8, "kiwi", "lime")
	model := l.Path("m.model")
	l.Must("train", "--images", images, "--out", model, "--classifier", "ncm")
	l.Must("label", model, "--images", images, "--out", l.Path("learned"), "--report")
	page := string(l.Read(l.Path("learned"), "report.html"))
	for _, wrong := range []string{"accuracy</span>", "No mistakes", `id="confusion"`, "calibration error"} {
		if strings.Contains(page, wrong) {
			t.Errorf("a report of learned photos has %q", wrong)
		}
	}

	eval := l.Must("eval", model, "--images", images, "--json="+l.Path("eval.json"), "--report="+l.Path("eval"))
	for _, want := range []string{"learned            16 of the images",
		"accuracy           100.0 %, learned images included",
		"balanced accuracy  100.0 %, learned images included"} {
		if !strings.Contains(eval.Stdout, want) {
			t.Errorf("eval of learned photos does not say %q:\n%s", want, eval.Stdout)
		}
	}
	page = string(l.Read(l.Path("eval"), "report.html"))
	for _, want := range []string{"of which 16 were learned: too good",
		"No mistakes, but the model has learned 16 of these"} {
		if !strings.Contains(page, want) {
			t.Errorf("a report of an evaluation does not say %q", want)
		}
	}
	var figures struct {
		Learned int `json:"n_learned"`
	}
	if err := json.Unmarshal(l.Read(l.Path("eval.json")), &figures); err != nil || figures.Learned != 16 {
		t.Errorf("the figures are %+v: %v", figures, err)
	}

	for i, class := range []string{"kiwi", "lime", "lime"} { // what it has not learned is measured
		l.Write(filepath.Join(images, class, "new.jpg"), commandtest.Photo(class, 300+i, commandtest.SmallSide))
	}
	l.Must("label", model, "--images", images, "--out", l.Path("both"), "--report")
	if page := string(l.Read(l.Path("both"), "report.html")); !strings.Contains(page, "on 2 images of known classes") {
		t.Error("a report does not measure the photos that were not learned alone")
	}
}
