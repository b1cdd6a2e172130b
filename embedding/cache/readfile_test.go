package cache

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func TestReadStableSeesGrowth(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	must.Do(t, os.WriteFile(path, []byte("12345678"), 0o644))
	f := must.Get(os.Open(path))(t)
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
