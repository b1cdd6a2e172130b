package featdir

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/mutation"
)

// TestMutatedFolders: a folder with damaged files is refused or gives finite rows,
// from Read and from Open alike.
func TestMutatedFolders(t *testing.T) {
	var folders []string
	for _, samples := range [][]dataset.Sample{
		{{Path: "a/1.jpg", Label: "a"}, {Path: "b/2.jpg", Label: "b"},
			{Path: "b/3.jpg", Label: "b", Split: "test", Session: "1"}},
		{{Path: "%41\n.jpg", Label: "=é\""}},
	} {
		folder := filepath.Join(t.TempDir(), "feat")
		writeFeatures(t, folder, samples,
			embedding.Provenance{Dim: 4, ToolVersion: "1.0", Backbone: embedding.Backbone{Name: "net"}})
		folders = append(folders, folder)
	}
	names := []string{embeddingsName, samplesName, metaName}
	files := map[string][][]byte{}
	for _, name := range names {
		for _, folder := range folders {
			files[name] = append(files[name], must.Get(os.ReadFile(filepath.Join(folder, name)))(t))
		}
	}
	for _, name := range []string{"f4.npy", "f2.npy"} { // two rows each
		files[embeddingsName] = append(files[embeddingsName], must.Get(os.ReadFile(filepath.Join("testdata", name)))(t))
		files[samplesName] = append(files[samplesName], []byte("path,label\na,k\nb,k\n"))
		files[metaName] = append(files[metaName], []byte("{}"))
	}
	root := t.TempDir()
	var read atomic.Int64
	mutation.Each(t, 1000, func(i int, rng *rand.Rand) error {
		dir := filepath.Join(root, strconv.Itoa(i))
		defer os.RemoveAll(dir)
		err := os.Mkdir(dir, 0o755)
		// half the time only one file is damaged
		chosen, which := rng.IntN(2*len(names)), rng.IntN(len(files[metaName]))
		for j, name := range names {
			content := files[name][which]
			if chosen >= len(names) || chosen == j {
				content = mutation.Bytes(rng, content, files[name])
			}
			err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), content, 0o644))
		}
		if err != nil {
			return err
		}
		ok, err := same(dir)
		if ok {
			read.Add(1)
		}
		return err
	})
	t.Logf("%d could be read", read.Load())
}

// same reads a folder in both ways. They must agree on whether it can be read.
func same(dir string) (ok bool, err error) {
	whole, wholeErr := Read(dir)
	rows := 0
	r, err := Open(dir)
	if err == nil {
		_, err = r.Each(context.Background(), func(item embedding.Item) error {
			rows++
			if slices.ContainsFunc(item.Vector, func(v float32) bool { return !finite(v) }) {
				panic("NaN or Inf came through")
			}
			return nil
		})
		err = errors.Join(err, r.Close())
	}
	if (wholeErr == nil) != (err == nil) || err == nil && (rows != whole.X.Rows || rows != len(whole.Samples)) {
		return false, fmt.Errorf("Read: %d rows, %v; Open: %d rows, %v", whole.X.Rows, wholeErr, rows, err)
	}
	return err == nil, nil
}
