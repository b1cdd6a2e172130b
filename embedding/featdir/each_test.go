package featdir

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// featureFolder writes n rows of d values; row i, value j is i + j/1024.
func featureFolder(t *testing.T, n, d int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "features")
	w := must.Get(NewWriter(dir, embedding.Provenance{Dim: d}))(t)
	defer w.Abort()
	row := make([]float32, d)
	for i := range n {
		for j := range row {
			row[j] = float32(i) + float32(j)/1024
		}
		must.Do(t, w.Write(dataset.Sample{Path: fmt.Sprintf("%d.png", i), Label: "x"}, row))
	}
	must.Do(t, w.Close())
	return dir
}

func TestEachIsRead(t *testing.T) {
	for _, n := range []int{1, 5, 2500} { // a dimension of 1000 makes two and a half chunks of 2500 rows
		dir := featureFolder(t, n, 1000)
		want := must.Get(Read(dir))(t)
		r := must.Get(Open(dir))(t)
		defer r.Close()
		if r.Provenance().Dim != 1000 || len(r.Samples) != n {
			t.Errorf("%+v, %d samples", r.Provenance(), len(r.Samples))
		}
		i := 0
		_, err := r.Each(context.Background(), func(item embedding.Item) error {
			if item.Sample != want.Samples[i] || item.Hash != want.Content[i] ||
				!slices.Equal(item.Vector, want.X.Data[i*1000:(i+1)*1000]) {
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

// each reads all rows of a feature folder.
func each(dir string, emit func(embedding.Item) error) error {
	r, err := Open(dir)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = r.Each(context.Background(), emit)
	return err
}

func TestEachStopsAndRefuses(t *testing.T) {
	stop := errors.New("enough")
	dir := featureFolder(t, 4, 3)
	calls := 0
	err := each(dir, func(embedding.Item) error { calls++; return stop })
	if err != stop || calls != 1 {
		t.Errorf("%v after %d rows", err, calls)
	}
	file := filepath.Join(dir, "embeddings.npy")
	raw := must.Get(os.ReadFile(file))(t)
	copy(raw[len(raw)-4:], []byte{0, 0, 0xc0, 0x7f}) // NaN
	must.Do(t, os.WriteFile(file, raw, 0o666))
	err = each(dir, func(embedding.Item) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "row 4 of 4 (3.png), value 3") {
		t.Errorf("NaN: %v", err)
	}
	if err := each(filepath.Join(dir, "none"), nil); err == nil {
		t.Error("no folder")
	}
}
