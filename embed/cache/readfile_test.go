package cache

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestReadStableSeesGrowth(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, []byte("12345678"), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, claimed := range []int64{7, 9} {
		if _, err := readSize(f, nil, claimed); !errors.Is(err, ErrFileChanged) {
			t.Errorf("size %d: %v", claimed, err)
		}
		f.Seek(0, 0)
	}
	if b, err := readSize(f, make([]byte, 100), 8); err != nil || string(b) != "12345678" {
		t.Errorf("%q %v", b, err)
	}
}
