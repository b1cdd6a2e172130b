package labels_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestResultsAmongPhotos: a job whose results lie among the photos, or in their very folder, finds the same
// photos every time, and so do the other commands.
func TestResultsAmongPhotos(t *testing.T) {
	l := commandtest.New(t)
	model, images := l.Trained()
	for what, out := range map[string]string{"in the same folder": ".", "in a folder of them": "labels"} {
		t.Run(what, func(t *testing.T) {
			l := l.With(t)
			l.Must("label", model, "--images", images, "--out", l.Path("alone"))
			photos := filepath.Join(t.TempDir(), "photos")
			must.Do(t, os.CopyFS(photos, os.DirFS(images)))
			for range 2 {
				l.Must("label", model, "--images", photos, "--out", filepath.Join(photos, out), "--organise", "copy",
					"--format", "csv,imagefolder")
			}
			rows := len(l.Table(l.Path("alone", "labels.csv")))
			if got := len(l.Table(filepath.Join(photos, out, "labels.csv"))); got != rows {
				t.Errorf("%d rows, want %d", got, rows)
			}
			l.Must("embed", "--images", photos, "--out", l.Path(what))
			if got := len(l.Table(l.Path(what, "samples.csv"))); got != rows {
				t.Errorf("embed finds %d photos, want %d", got-1, rows-1)
			}
		})
	}
}
