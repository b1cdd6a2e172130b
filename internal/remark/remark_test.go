package remark

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"testing"
)

// TestRemarks: what is logged is a sentence for a person.
func TestRemarks(t *testing.T) {
	var out bytes.Buffer
	say := func(line string) { fmt.Fprintln(&out, line) }
	log := New(slog.LevelInfo, say)
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
	New(slog.LevelWarn, say).Info("quiet")
	if out.Len() > 0 {
		t.Errorf("--quiet lets through %q", &out)
	}
}
