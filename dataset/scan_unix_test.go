//go:build unix

package dataset

import (
	"path/filepath"
	"syscall"
	"testing"
)

func TestScanNeverOpensPipes(t *testing.T) {
	root := tree(t, map[string]string{"a.jpg": ""})
	for _, name := range []string{"pipe.jpg", "pipe"} {
		if err := syscall.Mkfifo(filepath.Join(root, name), 0o644); err != nil {
			t.Skip(err)
		}
	}
	l := mustScan(t, root, ScanOptions{})
	if len(l.Samples) != 1 || l.Skipped["special"] != 2 {
		t.Fatalf("%v %v", brief(l), l.Skipped)
	}
}
