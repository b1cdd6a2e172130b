package teach

import (
	"os"
	"path/filepath"
	"testing"
)

// TestNothingIsLeftInTemp: what killed sessions left is removed, what others have put there
// stays, and a session leaves nothing.
func TestNothingIsLeftInTemp(t *testing.T) {
	temp := filepath.Join(t.TempDir(), "temp")
	left := filepath.Join(temp, ".teach.tmp-pipeline-1a2b")
	if err := os.MkdirAll(left, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{left + "/base", left + "3", temp + "/teach-mine"} {
		if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := newRows(temp, 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.write(0, []float32{1, 2}); err != nil {
		t.Error(err)
	}
	if x, err := r.read(0, 1, nil); err != nil || x.Data[1] != 2 {
		t.Errorf("%v, %v", x.Data, err)
	}
	r.close()
	entries, err := os.ReadDir(temp)
	if err != nil || len(entries) != 1 || entries[0].Name() != "teach-mine" {
		t.Errorf("%v, %v", entries, err)
	}
}
