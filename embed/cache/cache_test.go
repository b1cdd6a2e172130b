package cache

import (
	"os"
	"path/filepath"
	"testing"
)

// A run that is killed while it writes a small file leaves it under a temporary
// name; the next run that opens the cache removes it.
func TestOpenCacheClearsWhatKilledRunsLeft(t *testing.T) {
	dir := t.TempDir()
	ns := Namespace{Extractor: "e", Preprocess: "p"}
	var left []string
	for _, folder := range []string{filepath.Join("embeddings", ns.key()), "paths"} {
		file := filepath.Join(dir, folder, ".meta.json.tmp-pipeline-3ekj7lxffhjna")
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("{"), 0o644); err != nil {
			t.Fatal(err)
		}
		left = append(left, file)
	}
	c, err := Open(dir, ns, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, file := range left {
		if _, err := os.Stat(file); !os.IsNotExist(err) {
			t.Errorf("%s is still there (%v)", file, err)
		}
	}
}
