package cache

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

// A Cache finds and keeps the embeddings of one namespace. It is safe for concurrent use,
// also by several processes. The methods of a nil Cache do nothing and find nothing.
type Cache struct {
	dir string
	ns  [namespaceBytes]byte
	log *slog.Logger

	mu       sync.RWMutex
	files    []*file         // the largest first
	own      *file           // of those: the one that this process writes
	full     int64           // bytes of a database
	left     map[string]bool // paths of what is no database of this version
	group    *batch          // not in it yet
	due      *time.Timer
	took     time.Duration // to write the last group
	failed   error         // of a group that was due
	readOnly bool
	closed   bool
}

// Open opens the cache in the folder dir (a user's cache folder, shared by all
// runs) for one namespace. It writes nothing before the first embedding. Damage
// and an unwritable folder are logged, not returned as errors. A nil log is
// silent.
func Open(dir string, ns Namespace, log *slog.Logger) (*Cache, error) {
	if ns.Extractor == "" || ns.Preprocess == "" {
		return nil, fmt.Errorf("open cache %s: the fingerprints of extractor and preprocessing are required", dir)
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	dir = filepath.Join(dir, "embeddings")
	c := &Cache{dir: dir, ns: ns.key(), log: log, full: fullBytes, left: map[string]bool{}, group: newBatch()}
	if err := c.adopt(); err != nil {
		return nil, fmt.Errorf("open cache: %w", err)
	}
	return c, nil
}

// adopt opens the databases that are there and not open yet. Those that another process has
// merged since they were listed are gone: then the result is there.
func (c *Cache) adopt() error {
	for range 3 {
		gone, err := c.look()
		if err != nil || !gone {
			return err
		}
	}
	return nil
}

func (c *Cache) look() (gone bool, err error) {
	folder, err := regularfile.Folder(c.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer folder.Close()
	entries, err := folder.ReadDir(-1)
	if err != nil {
		return false, err
	}
	names := map[string]bool{}
	for _, e := range entries {
		path := filepath.Join(c.dir, e.Name())
		names[path] = true
		isOpen := slices.ContainsFunc(c.files, func(f *file) bool { return f.path == path })
		if filepath.Ext(path) == extension && !isOpen && !c.left[path] {
			gone = errors.Is(c.adoptFile(path, e.Type()), fs.ErrNotExist) || gone
		}
	}
	for _, f := range slices.Clone(c.files) {
		if !names[f.path] {
			c.forget(f)
			err = errors.Join(err, f.close())
		}
	}
	slices.SortStableFunc(c.files, func(a, b *file) int { return cmp.Compare(b.bytes, a.bytes) })
	return gone, err
}

// adoptFile opens a database, unless another process is at work on it.
func (c *Cache) adoptFile(path string, kind fs.FileMode) error {
	if !kind.IsRegular() {
		c.leave(path, regularfile.ErrNotRegular)
		return nil
	}
	f, err := open(path)
	switch {
	case err == nil:
		c.files = append(c.files, f)
	case errors.Is(err, bolterrors.ErrTimeout), errors.Is(err, errEmpty), errors.Is(err, fs.ErrNotExist):
	case errors.Is(err, errUnused):
		_ = atomicfile.Remove(path) // nothing in it can be found; where that fails, the next process does
	default:
		c.leave(path, err)
	}
	return err
}

func (c *Cache) leave(path string, reason error) {
	c.left[path] = true
	c.log.Warn("embedding cache: left alone, what is in it is computed again; it can be deleted", "file", path,
		"reason", reason)
}

// note says once that something in a database is damaged.
func (c *Cache) note(f *file, reason error) {
	if f.noted.CompareAndSwap(false, true) {
		c.log.Warn("embedding cache: damaged; what is missing is computed again", "file", f.path, "reason", reason)
	}
}

// Get returns a new copy of the embedding of h.
func (c *Cache) Get(h Hash) ([]float32, bool) {
	if c == nil {
		return nil, false
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	key := c.key(h)
	if v, ok := c.group.row(key); ok {
		return v, true
	}
	for _, f := range c.files {
		v, err := f.row(key)
		if err != nil {
			c.note(f, err)
		}
		if v != nil {
			return v, true
		}
	}
	return nil, false
}

func (c *Cache) key(h Hash) rowKey { return rowKey(slices.Concat(c.ns[:], h[:])) }

// Lookup returns the content hash of the file at the absolute path abs if its state is
// unchanged since it was hashed.
func (c *Cache) Lookup(abs string, state FileState) (Hash, bool) {
	if c == nil {
		return Hash{}, false
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	key := keyOfPath(abs)
	if then, h, ok := parsePath(c.group.paths[key], key); ok && then.same(state) {
		return h, true
	}
	for _, f := range c.files {
		h, known, err := f.content(key, state)
		if err != nil {
			c.note(f, err)
		}
		if known {
			return h, true
		}
	}
	return Hash{}, false
}

// Put stores an embedding. If the cache is not writable, this is logged once and Put does
// nothing; a full disk is an error, maybe of a later call.
func (c *Cache) Put(h Hash, v []float32) error {
	if c == nil {
		return nil
	}
	key := c.key(h)
	record := rowRecord(key, v)
	return c.add(func(group *batch) { group.addRow(key, record) })
}

// Record stores that the file at abs had this state before and after it was
// read, and hashed to h. A file modified a moment ago is not recorded: it could
// change again without a change of mtime ("racily clean"). Errors are as for Put.
func (c *Cache) Record(abs string, state FileState, h Hash) error {
	if c == nil || racy(state, time.Now()) {
		return nil
	}
	key := keyOfPath(abs)
	return c.add(func(group *batch) { group.addPath(key, pathRecord(key, state, h)) })
}

// add adds something to the group, which is written when it is due.
func (c *Cache) add(into func(group *batch)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return fmt.Errorf("write cache %s: %w", c.dir, os.ErrClosed)
	}
	err := c.failed
	if err != nil || c.readOnly {
		c.failed = nil
		return err
	}
	into(c.group)
	if c.group.bytes >= groupBytes {
		return c.write()
	}
	if c.due == nil {
		c.due = time.AfterFunc(pause*c.took, c.writeDue)
	}
	return nil
}
