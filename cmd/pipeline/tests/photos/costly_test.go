//go:build linux

package photos

import (
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/imagebomb"
)

// mostPeak is the most memory in MiB that a command may take for any small file.
const mostPeak = 1024

// TestSmallPhotosThatCostMuch have a row that says why they are refused, and the
// process stays small.
func TestSmallPhotosThatCostMuch(t *testing.T) {
	l := commandtest.New(t)
	images := l.Photos(l.Path("images"), commandtest.SmallSide, 2, "kiwi")
	bad := map[string]struct {
		file []byte
		text string
	}{
		"one item.heic": {
			imagebomb.Grid{Columns: 256, Rows: 256, Items: 1, Extents: 2, DataBytes: 130_000}.HEIC(),
			"double references", // libheif counts them before anything is decoded
		},
		"many items.heic": {
			imagebomb.Grid{Columns: 128, Rows: 128, Items: 16384, Extents: 1, DataBytes: 500_000}.HEIC(),
			"its header describes",
		},
		"no items.heic": {
			imagebomb.Grid{Columns: 1, Rows: 1, Items: 1, Extents: 1, DataBytes: 9, Unused: 1_000_000}.HEIC(),
			"its header describes",
		},
		"tall.png":   {imagebomb.PNG(1, 100_000_000, imagebomb.Grey, 8, false), "a side may have 1000000"},
		"strips.tif": {imagebomb.TIFF(1, 200_000, 1, 3), "200000 strips or tiles"},
		"tiles.tif":  {imagebomb.Tiles(8, 1_000_000, 1024), "preprocess.memory is 512MiB"},
	}
	for name, c := range bad {
		l.Write(l.Path("images", name), c.file)
	}
	peak, _ := peakOf(l, l.Path("cache"), command.ExitPartial, "embed", "--images", images, "--out", l.Path("out"))
	if t.Logf("%d MiB", peak); peak > mostPeak && !raceDetector() {
		t.Errorf("peak memory %d MiB, want at most %d", peak, mostPeak)
	}
	rows := l.Table(l.Path("out", "errors.csv"))[1:]
	if len(rows) != len(bad) {
		t.Errorf("%d files failed, want %d", len(rows), len(bad))
	}
	for _, row := range rows {
		if want := bad[row[0]].text; want == "" || !strings.Contains(row[1], want) {
			t.Errorf("%s: %s", row[0], row[1])
		}
	}
}
