package rowfile_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/rowfile"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestNothingIsLeftInTemp: what killed programs left is removed, what others have put there stays, and a
// closed matrix leaves nothing.
func TestNothingIsLeftInTemp(t *testing.T) {
	temp := filepath.Join(t.TempDir(), "temp")
	left := filepath.Join(temp, ".teach.tmp-pipeline-1a2b")
	must.Do(t, os.MkdirAll(left, 0o700))
	for _, name := range []string{left + "/base", left + "3", temp + "/teach-mine"} {
		must.Do(t, os.WriteFile(name, []byte("x"), 0o600))
	}
	m := must.Get(rowfile.New[float32](temp, "teach", "embeddings", 2))(t)
	if err := m.Write(0, []float32{1, 2}); err != nil {
		t.Error(err)
	}
	m.Close()
	entries, err := os.ReadDir(temp)
	if err != nil || len(entries) != 1 || entries[0].Name() != "teach-mine" {
		t.Errorf("%v, %v", entries, err)
	}
	var none *rowfile.Matrix[float32]
	none.Close()
}

// TestRows: rows of both sizes come back from anywhere, into the buffer where it is large enough.
func TestRows(t *testing.T) {
	m := must.Get(rowfile.New[float64](t.TempDir(), "label", "scores", 2))(t)
	defer m.Close()
	for row, v := range [][]float64{{1, 2}, {3, 4, 5, 6}} {
		must.Do(t, m.Write(row, v))
	}
	buf := make([]float64, 4)
	got, err := m.Read(1, 3, buf)
	if err != nil || !slices.Equal(got, []float64{3, 4, 5, 6}) || &got[0] != &buf[0] {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := m.Read(0, 3, buf); err != nil || !slices.Equal(got, []float64{1, 2, 3, 4, 5, 6}) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := m.Read(2, 4, nil); err == nil {
		t.Error("a row that nobody wrote was read")
	}
	if got, err := m.Read(3, 3, nil); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
}
