package cache

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

// defaultShardBytes is the size at which a store starts a new shard.
const defaultShardBytes = 256 << 20

// keyFormat returns the format of a shard's .key file: record i holds the
// content hash of row i of the .vec file and that row's checksum.
func keyFormat() recordFormat {
	return recordFormat{magic: "PLEMBKEY", payload: len(Hash{}) + checksumBytes}
}

// A Store maps content hashes to embeddings of one size, on disk. It is safe
// for concurrent use, including by several processes.
//
// Only the keys are in memory: about 100 bytes per embedding (95 MB measured
// for a million). Get reads one row, usually from the page cache.
type Store struct {
	dir        string
	shardBytes int64
	log        *slog.Logger

	mu     sync.RWMutex
	dim    int // 0 until the first row is known
	rows   map[Hash]location
	twins  map[Hash][]location // further copies of the same row, rare
	shards []*shard

	appendMu sync.Mutex
	writer   *shardWriter
	readOnly bool
	closed   bool

	damaged atomic.Int64
	buffers sync.Pool
}

// A location is the position of a row and its expected checksum.
type location struct{ shard, row, checksum uint32 }

// A shard is one pair of files, loaded up to some row.
type shard struct {
	slot   string
	vec    *os.File
	loaded int // rows
}

// OpenStore opens the store in the folder dir, which is created with the first
// Put. Damaged shards are logged and skipped. A nil log is silent.
func OpenStore(dir string, log *slog.Logger) (*Store, error) {
	s := &Store{
		dir: dir, shardBytes: defaultShardBytes, log: orSilent(log),
		rows: map[Hash]location{}, twins: map[Hash][]location{},
	}
	found, err := slots(dir, ".key")
	if err != nil {
		return nil, fmt.Errorf("open cache: %w", err)
	}
	for _, slot := range found {
		if _, err := s.load(slot); err != nil {
			s.log.Warn("embedding cache: shard skipped", "file", s.path(slot, ".key"), "reason", err)
		}
	}
	return s, nil
}

func orSilent(log *slog.Logger) *slog.Logger {
	if log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return log
}

func (s *Store) path(slot, ext string) string { return filepath.Join(s.dir, slot+ext) }

// load indexes the rows of a shard that are not indexed yet.
func (s *Store) load(slot string) (*shard, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sh, err := s.shard(slot)
	if err != nil {
		return nil, err
	}
	key, _, err := regularfile.Open(s.path(slot, ".key"))
	if err != nil {
		return nil, err
	}
	defer key.Close()
	var entries []keyEntry
	state, err := keyFormat().read(key, func(i int, payload []byte) {
		if i >= sh.loaded {
			entries = append(entries, parseKey(i, payload))
		}
	})
	if err != nil {
		return nil, err
	}
	return sh, s.adopt(sh, state, entries)
}

// shard returns the shard of a slot, opening its .vec file if it is new.
func (s *Store) shard(slot string) (*shard, error) {
	for _, sh := range s.shards {
		if sh.slot == slot {
			return sh, nil
		}
	}
	vec, err := os.Open(s.path(slot, ".vec"))
	if err != nil {
		return nil, err
	}
	sh := &shard{slot: slot, vec: vec}
	s.shards = append(s.shards, sh)
	return sh, nil
}

// adopt adds the entries of a shard whose rows are complete. It measures the
// .vec file after the keys were read, because rows are written first.
func (s *Store) adopt(sh *shard, state recordState, entries []keyEntry) error {
	if state.records == 0 {
		return nil
	}
	if state.dim <= 0 || state.dim > maxDim || (s.dim != 0 && s.dim != state.dim) {
		return fmt.Errorf("dimension %d, the other shards have %d", state.dim, s.dim)
	}
	info, err := sh.vec.Stat()
	if err != nil {
		return err
	}
	firstLook := sh.loaded == 0
	complete := min(state.records, int(info.Size()/int64(rowBytes(state.dim))))
	number := s.shardNumber(sh)
	for _, e := range entries {
		if e.row < complete {
			s.dim = state.dim // trusted only once there is a row of that size
			s.add(e.hash, location{shard: number, row: uint32(e.row), checksum: e.checksum})
		}
	}
	sh.loaded = max(sh.loaded, complete)
	if firstLook {
		s.noteDamage(state.damaged, sh.slot)
	}
	return nil
}

// maxDim is far above any embedding; a header that states more is invalid.
const maxDim = 1 << 20

func (s *Store) noteDamage(records int, slot string) {
	if records > 0 {
		s.damaged.Add(int64(records))
		s.log.Warn("embedding cache: damaged keys ignored", "file", s.path(slot, ".key"), "keys", records)
	}
}

func (s *Store) shardNumber(sh *shard) uint32 { return uint32(slices.Index(s.shards, sh)) }

func (s *Store) add(h Hash, at location) {
	if first, known := s.rows[h]; known && first != at {
		s.twins[h] = append(s.twins[h], at)
		return
	}
	s.rows[h] = at
}

// Len returns the number of known embeddings.
func (s *Store) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.rows)
}

// Dim returns d, or 0 while the store is empty.
func (s *Store) Dim() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.dim
}

// Damaged returns the number of rows and keys with wrong checksums.
func (s *Store) Damaged() int { return int(s.damaged.Load()) }

// Get returns a new copy of the embedding of h. A damaged row, or one that is
// not finite, is a miss.
func (s *Store) Get(h Hash) ([]float32, bool) {
	for {
		s.mu.RLock()
		at, known := s.rows[h]
		var vec *os.File
		if known {
			vec = s.shards[at.shard].vec
		}
		dim := s.dim
		s.mu.RUnlock()
		if !known {
			return nil, false
		}
		if v, err := s.readRow(vec, at, dim); err == nil {
			return v, true
		} else if errors.Is(err, fs.ErrClosed) {
			return nil, false
		}
		s.drop(h, at)
	}
}

var (
	errChecksum  = errors.New("checksum mismatch")
	errNotFinite = errors.New("NaN or Inf")
)

func (s *Store) readRow(vec *os.File, at location, dim int) ([]float32, error) {
	buf := s.buffer(rowBytes(dim))
	defer s.buffers.Put(buf)
	row := (*buf)[:rowBytes(dim)]
	if _, err := vec.ReadAt(row, int64(at.row)*int64(len(row))); err != nil {
		return nil, err
	}
	if checksum(row) != at.checksum {
		return nil, errChecksum
	}
	v := make([]float32, dim)
	if _, err := binary.Decode(row, binary.LittleEndian, v); err != nil {
		return nil, err
	}
	if !dense.Finite32(v) {
		return nil, errNotFinite
	}
	return v, nil
}

func (s *Store) buffer(size int) *[]byte {
	if b, ok := s.buffers.Get().(*[]byte); ok && cap(*b) >= size {
		return b
	}
	b := make([]byte, size)
	return &b
}

// drop removes one copy of a row; the next copy, if any, replaces it.
func (s *Store) drop(h Hash, at location) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rows[h] != at {
		return // another goroutine was faster
	}
	delete(s.rows, h)
	if rest := s.twins[h]; len(rest) > 0 {
		s.rows[h], s.twins[h] = rest[0], rest[1:]
	}
	if s.damaged.Add(1) == 1 {
		s.log.Warn("embedding cache: damaged row, computed again", "file", s.path(s.shards[at.shard].slot, ".vec"),
			"row", at.row)
	}
}
