package labels

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
)

// TestReportsShowPictures: if there are more images than a report can show, every
// tile still has a picture.
func TestReportsShowPictures(t *testing.T) {
	l := commandtest.New(t)
	model, _ := l.Trained()
	images := l.Path("many")
	for _, class := range []string{"kiwi", "lime", "plum", "fig", "pear"} {
		for i := range 500 { // ten different pictures, so that few are embedded
			l.Write(filepath.Join(images, class, fmt.Sprintf("%03d.jpg", i)), commandtest.Photo(class, i%10, 24))
		}
	}
	l.Must("label", model, "--images", images, "--out", l.Path("labels"), "--report")
	l.Must("eval", model, "--images", images, "--report", l.Path("evaluation"))
	for _, dir := range []string{"labels", "evaluation"} {
		page := string(l.Read(l.Path(dir), "report.html"))
		tiles, pictures := strings.Count(page, `<li class="card`), strings.Count(page, `src="data:image/jpeg;base64,`)
		if tiles != 2000 || pictures != tiles {
			t.Errorf("%s: %d tiles, %d with a picture", dir, tiles, pictures)
		}
		if !strings.Contains(page, "500 of 2,500 pictures are not shown") {
			t.Errorf("%s: the page does not say how many are left out", dir)
		}
	}
}
