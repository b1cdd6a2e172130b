package cache

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

// A FileState shows, without reading a file, whether it is unchanged.
type FileState struct {
	Size    int64 // bytes
	MtimeNs int64 // modification time, nanoseconds since 1970
	Inode   uint64
}

// A pathDigest is the first half of the SHA-256 of an absolute path.
type pathDigest [16]byte

func digestPath(abs string) pathDigest {
	sum := sha256.Sum256([]byte(abs))
	return pathDigest(sum[:16])
}

// An indexEntry is the latest record of one path.
type indexEntry struct {
	state      FileState
	recordedNs int64 // the newest entry of a path wins
	hash       Hash
}

const indexPayload = len(pathDigest{}) + 4*8 + len(Hash{})

func indexFormat() recordFormat {
	return recordFormat{magic: "PLPATHIX", payload: indexPayload}
}

func (e indexEntry) payload(d pathDigest) []byte {
	b := append(make([]byte, 0, indexPayload), d[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(e.state.Size))
	b = binary.LittleEndian.AppendUint64(b, uint64(e.state.MtimeNs))
	b = binary.LittleEndian.AppendUint64(b, e.state.Inode)
	b = binary.LittleEndian.AppendUint64(b, uint64(e.recordedNs))
	return append(b, e.hash[:]...)
}

func parseEntry(b []byte) (pathDigest, indexEntry) {
	var d pathDigest
	b = b[copy(d[:], b):]
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	e := indexEntry{
		state:      FileState{Size: int64(word(0)), MtimeNs: int64(word(1)), Inode: word(2)},
		recordedNs: int64(word(3)),
	}
	copy(e.hash[:], b[4*8:])
	return d, e
}

// An Index maps (path, size, mtime, inode) of files to their content hash, for
// all namespaces of a cache. It is safe for concurrent use, including by
// several processes. An entry takes about 180 bytes of memory (175 MB measured
// for a million).
type Index struct {
	dir string
	log *slog.Logger
	now func() time.Time

	mu       sync.RWMutex
	entries  map[pathDigest]indexEntry
	records  int // on disk, stale ones included
	writer   *recordWriter
	lock     *flock.Flock
	readOnly bool
	closed   bool
}

// openIndex reads the index in the folder dir, which is created with the first
// Record. Damaged files and records are logged and skipped. A nil log is
// silent.
func openIndex(dir string, log *slog.Logger) (*Index, error) {
	x := &Index{dir: dir, log: orSilent(log), now: time.Now, entries: map[pathDigest]indexEntry{}}
	found, err := slots(dir, ".idx")
	if err != nil {
		return nil, fmt.Errorf("open cache: %w", err)
	}
	for _, slot := range found {
		x.load(slot)
	}
	return x, nil
}

func (x *Index) path(slot string) string { return filepath.Join(x.dir, slot+".idx") }

// load reads one file. Only openIndex and compact call it.
func (x *Index) load(slot string) {
	state, err := x.read(slot)
	x.records += state.records
	switch {
	case errors.Is(err, fs.ErrNotExist): // compacted away by another process
	case err != nil:
		x.log.Warn("path index: file skipped", "file", x.path(slot), "reason", err)
	case state.damaged > 0:
		x.log.Warn("path index: damaged records ignored", "file", x.path(slot), "records", state.damaged)
	}
}

func (x *Index) read(slot string) (recordState, error) {
	f, _, err := regularfile.Open(x.path(slot))
	if err != nil {
		return recordState{}, err
	}
	defer f.Close()
	return indexFormat().read(f, func(_ int, payload []byte) {
		d, e := parseEntry(payload)
		if old, known := x.entries[d]; !known || old.recordedNs <= e.recordedNs {
			x.entries[d] = e
		}
	})
}

// lookup returns the content hash of the file at the absolute path abs if its
// state is unchanged since it was hashed.
func (x *Index) lookup(abs string, state FileState) (Hash, bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	e, known := x.entries[digestPath(abs)]
	if !known || e.state != state {
		return Hash{}, false
	}
	return e.hash, true
}

// Len returns the number of known paths.
func (x *Index) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.entries)
}

// record stores that the file at abs had this state before and after it was
// read, and hashed to h. A file modified a moment ago is not recorded: it could
// change again without a change of mtime ("racily clean"). Errors are as for
// Store.Put.
func (x *Index) record(abs string, state FileState, h Hash) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return fmt.Errorf("write cache %s: %w", x.dir, os.ErrClosed)
	}
	now := x.now()
	d := digestPath(abs)
	old, known := x.entries[d]
	if racy(state, now) || (known && old.state == state && old.hash == h) {
		return nil
	}
	// A clock that was set back must not make the new entry look older.
	e := indexEntry{state: state, recordedNs: max(now.UnixNano(), old.recordedNs+1), hash: h}
	if !x.readOnly {
		if err := x.write(d, e); err != nil {
			return err
		}
	}
	x.entries[d] = e
	return nil
}

// File time stamps tick every 1–10 ms; on file systems that store whole seconds
// (FAT: two) they have no fraction.
const (
	tick       = 20 * time.Millisecond
	coarseTick = 2 * time.Second
)

func racy(state FileState, now time.Time) bool {
	guard := tick
	if state.MtimeNs%int64(time.Second) == 0 {
		guard = coarseTick
	}
	return now.UnixNano()-state.MtimeNs < int64(guard)
}

func (x *Index) write(d pathDigest, e indexEntry) error {
	err := x.acquire()
	if err == nil {
		err = x.writer.append(e.payload(d))
	}
	switch {
	case err == nil:
		x.records++
	case unwritable(err):
		x.readOnly = true
		x.log.Warn("path index cannot be written; continuing read-only", "folder", x.dir, "reason", err)
		return nil
	}
	return writeError(x.dir, err)
}

// Close makes the recorded entries durable.
func (x *Index) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return nil
	}
	x.closed = true
	if x.writer == nil {
		return nil
	}
	return writeError(x.dir, errors.Join(x.writer.close(), x.lock.Close()))
}
