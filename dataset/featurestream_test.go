package dataset

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// featureFolder writes n rows of d values; row i, value j is i + j/1024.
func featureFolder(t *testing.T, n, d int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "features")
	w, err := NewFeatureWriter(dir, Meta{Dimension: d})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	row := make([]float32, d)
	for i := range n {
		for j := range row {
			row[j] = float32(i) + float32(j)/1024
		}
		if err := w.Write(Sample{Path: fmt.Sprintf("%d.png", i), Label: "x"}, row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestEachFeatureIsReadFeatures(t *testing.T) {
	for _, n := range []int{1, 5, 2500} { // a dimension of 1000 makes two and a half chunks of 2500 rows
		dir := featureFolder(t, n, 1000)
		want, err := ReadFeatures(dir)
		if err != nil {
			t.Fatal(err)
		}
		i := 0
		err = EachFeature(dir, func(meta *Meta, d int) error {
			if meta == nil || d != 1000 || i != 0 {
				t.Errorf("begin: %+v, %d", meta, d)
			}
			return nil
		}, func(s Sample, row []float32) error {
			if s != want.Samples[i] || !slices.Equal(row, want.X.Data[i*1000:(i+1)*1000]) {
				t.Fatalf("row %d differs", i)
			}
			i++
			return nil
		})
		if err != nil || i != n {
			t.Errorf("%d rows of %d: %v", i, n, err)
		}
	}
}

func TestEachFeatureStopsAndRefuses(t *testing.T) {
	stop := errors.New("enough")
	dir := featureFolder(t, 4, 3)
	calls := 0
	nothing := func(*Meta, int) error { return nil }
	err := EachFeature(dir, nothing, func(Sample, []float32) error { calls++; return stop })
	if err != stop || calls != 1 {
		t.Errorf("%v after %d rows", err, calls)
	}
	if err := EachFeature(dir, func(*Meta, int) error { return stop }, nil); err != stop {
		t.Errorf("begin: %v", err)
	}
	file := filepath.Join(dir, "embeddings.npy")
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	copy(raw[len(raw)-4:], []byte{0, 0, 0xc0, 0x7f}) // NaN
	if err := os.WriteFile(file, raw, 0o666); err != nil {
		t.Fatal(err)
	}
	err = EachFeature(dir, nothing, func(Sample, []float32) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "row 4 of 4 (3.png), value 3") {
		t.Errorf("NaN: %v", err)
	}
	if err := EachFeature(filepath.Join(dir, "none"), nothing, nil); err == nil {
		t.Error("no folder")
	}
}
