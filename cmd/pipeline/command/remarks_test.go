package command

import (
	"bytes"
	"errors"
	"log/slog"
	"testing"
)

// TestRemarks: what is logged is a sentence for a person.
func TestRemarks(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(remarks{out: &out, level: slog.LevelInfo})
	log.Debug("nobody reads this")
	log.Info("images of the classes of --drop-label are left out", "images", 1)
	log.Warn("the cache cannot be written; continuing read-only", "folder", "/cache", "reason",
		errors.New("no space left"))
	log.With("backbone", "a.onnx").WithGroup("index").Error("damaged", "merged_rows", 3)
	const want = `note: images of the classes of --drop-label are left out (images: 1)
warning: the cache cannot be written; continuing read-only (folder: /cache): no space left
error: damaged (backbone: a.onnx, index merged rows: 3)
`
	if out.String() != want {
		t.Errorf("%s\nwanted\n%s", &out, want)
	}
	out.Reset()
	slog.New(remarks{out: &out, level: slog.LevelWarn}).Info("quiet")
	if out.Len() > 0 {
		t.Errorf("--quiet lets through %q", &out)
	}
}
