package photos

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// subjectsAtTheLeft writes n wide pictures of each class that show it at the left.
func subjectsAtTheLeft(l *commandtest.Bed, dir string, first, n int) string {
	l.Helper()
	const side = commandtest.SmallSide
	for _, class := range []string{"kiwi", "lime", "plum"} {
		for i := range n {
			m := must.Get(jpeg.Decode(bytes.NewReader(commandtest.Photo(class, first+i, side))))(l)
			wide := image.NewRGBA(image.Rect(0, 0, 2*side+i, side))
			draw.Draw(wide, wide.Rect, image.NewUniform(color.Gray{Y: 128}), image.Point{}, draw.Src)
			draw.Draw(wide, image.Rect(0, 0, side/2, side), m, image.Pt(side/4, 0), draw.Src)
			var b bytes.Buffer
			must.Do(l, png.Encode(&b, wide))
			l.Write(filepath.Join(dir, class, fmt.Sprintf("%d.png", i)), b.Bytes())
		}
	}
	return dir
}

// TestWhatTheNetworkSees: a subject at the edge is seen by squeezing, bars and views, not in the
// centre crop, which says so; the model keeps the choice and refuses another.
func TestWhatTheNetworkSees(t *testing.T) {
	commandtest.TrainedNetwork(t)
	l := commandtest.New(t)
	learned, asked := subjectsAtTheLeft(l, l.Path("learned"), 0, 4), subjectsAtTheLeft(l, l.Path("asked"), 4, 3)
	const hidden = "lose more than a quarter of their area to the centre crop"
	for _, view := range []string{"crop", "squeeze", "pad", "views"} {
		file, out := l.Path(view+".model"), l.Path(view)
		trained := l.Must("train", "--images", learned, "--classifier", "ncm", "--out", file,
			"--set", "preprocess.view="+view)
		said := l.Must("label", file, "--images", asked, "--out", out)
		for what, text := range map[string]string{"train": trained.Stderr, "label": said.Stderr} {
			if strings.Contains(text, hidden) != (view == "crop") {
				t.Errorf("%s, %s: %s", view, what, text)
			}
		}
		right := 0
		for _, row := range l.Table(out, "labels.csv")[1:] {
			if strings.HasPrefix(row[0], row[1]+"/") {
				right++
			}
		}
		if (right == 9) == (view == "crop") {
			t.Errorf("%s: %d of 9 are right", view, right)
		}
	}
	file := l.Path("views.model")
	if shown := l.Must("inspect", file).Stdout; !strings.Contains(shown, "views instead of the centre crop") {
		t.Errorf("inspect says %s", shown)
	}
	l.Refused(command.ExitFailed, []string{`view is "crop" here, "views" in the model`}, "label", file,
		"--images", asked, "--out", l.Path("no"), "--set", "preprocess.view=crop")
	l.Refused(command.ExitUsage, []string{"preprocess", "view", "crop, squeeze, pad, views"}, "embed",
		"--images", asked, "--out", l.Path("no"), "--set", "preprocess.view=tile")
}
