package cache

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
)

// A Cache is a Store for one namespace behind a path Index. The methods of a
// nil Cache do nothing and find nothing.
type Cache struct {
	Store *Store
	Index *Index
	note  string // meta.json, which describes the namespace
	text  []byte
}

// Open opens the cache in the folder dir (a user's cache folder, shared by all
// runs) for one namespace. It writes nothing before the first embedding. Damage
// and an unwritable folder are logged, not returned as errors. A nil log is
// silent.
func Open(dir string, ns Namespace, log *slog.Logger) (*Cache, error) {
	if ns.Extractor == "" || ns.Preprocess == "" {
		return nil, fmt.Errorf("open cache %s: the fingerprints of extractor and preprocessing are required", dir)
	}
	home, paths := filepath.Join(dir, "embeddings", ns.key()), filepath.Join(dir, "paths")
	for _, folder := range []string{home, paths} {
		_, _ = atomicfile.RemoveStale(folder) // leftovers of killed runs are harmless
	}
	store, err := OpenStore(home, log)
	if err != nil {
		return nil, err
	}
	index, err := openIndex(paths, log)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	text, err := json.MarshalIndent(map[string]string{
		"extractor_fingerprint": ns.Extractor, "preprocess_fingerprint": ns.Preprocess,
	}, "", "  ")
	return &Cache{Store: store, Index: index, note: filepath.Join(home, "meta.json"), text: append(text, '\n')}, err
}

func (c *Cache) Lookup(abs string, state FileState) (Hash, bool) {
	if c == nil {
		return Hash{}, false
	}
	return c.Index.lookup(abs, state)
}

func (c *Cache) Record(abs string, state FileState, h Hash) error {
	if c == nil {
		return nil
	}
	return c.Index.record(abs, state, h)
}

func (c *Cache) Get(h Hash) ([]float32, bool) {
	if c == nil {
		return nil, false
	}
	return c.Store.Get(h)
}

func (c *Cache) Put(h Hash, v []float32) error {
	if c == nil {
		return nil
	}
	return c.Store.Put(h, v)
}

// Close makes everything durable. With the first embeddings of a namespace it
// also writes a meta.json for people who inspect the folder; no code reads it.
func (c *Cache) Close() error {
	if c == nil {
		return nil
	}
	err := errors.Join(c.Store.Close(), c.Index.Close())
	if _, statErr := os.Lstat(c.note); errors.Is(statErr, fs.ErrNotExist) && c.Store.Len() > 0 {
		_ = atomicfile.WriteFile(c.note, c.text) // only a convenience
	}
	return err
}
