package cache

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
)

// DefaultShardBytes is the size at which a store starts its next shard.
const DefaultShardBytes = 256 << 20

// keyFormat is the .key file of a shard: record i holds the content hash of row
// i of the .vec file and the checksum of that row.
func keyFormat() recordFormat {
	return recordFormat{magic: "PLEMBKEY", payload: len(Hash{}) + checksumBytes}
}

// A Store maps content hashes to embeddings of one size, on disk. It is safe
// for concurrent use, also by several processes.
//
// In memory it keeps the keys only: about 100 bytes an embedding (95 MB measured
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

// A location is where a row lies and what its checksum must be.
type location struct{ shard, row, checksum uint32 }

// A shard is one pair of files as far as it has been loaded.
type shard struct {
	slot   string
	vec    *os.File
	loaded int // rows
}

// OpenStore opens the store in the folder dir, which is created with the first
// Put. Damaged shards are logged and left out. A nil log is silent.
func OpenStore(dir string, log *slog.Logger) (*Store, error) {
	s := &Store{
		dir: dir, shardBytes: DefaultShardBytes, log: orSilent(log),
		rows: map[Hash]location{}, twins: map[Hash][]location{},
	}
	found, err := slots(dir, ".key")
	if err != nil {
		return nil, fmt.Errorf("open cache: %w", err)
	}
	for _, slot := range found {
		if _, err := s.load(slot); err != nil {
			s.log.Warn("embedding cache: shard left out", "file", s.path(slot, ".key"), "reason", err)
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

// load makes the rows of a shard known that were not known yet.
func (s *Store) load(slot string) (*shard, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sh, err := s.shard(slot)
	if err != nil {
		return nil, err
	}
	key, err := os.Open(s.path(slot, ".key"))
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

// shard returns the shard of a slot, new with its .vec file open when it was
// not known.
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

// adopt adds the entries of a shard whose rows are complete. The .vec file is
// measured after the keys were read: rows are written first.
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
			s.dim = state.dim // believed only once there is a row of that size
			s.add(e.hash, location{shard: number, row: uint32(e.row), checksum: e.checksum})
		}
	}
	sh.loaded = max(sh.loaded, complete)
	if firstLook {
		s.noteDamage(state.damaged, sh.slot)
	}
	return nil
}

// maxDim is far above any embedding; a header that states more is not ours.
const maxDim = 1 << 20

func (s *Store) noteDamage(records int, slot string) {
	if records > 0 {
		s.damaged.Add(int64(records))
		s.log.Warn("embedding cache: damaged keys ignored", "file", s.path(slot, ".key"), "keys", records)
	}
}

func (s *Store) shardNumber(sh *shard) uint32 {
	for i, other := range s.shards {
		if other == sh {
			return uint32(i)
		}
	}
	return 0
}

func (s *Store) add(h Hash, at location) {
	if first, known := s.rows[h]; known && first != at {
		s.twins[h] = append(s.twins[h], at)
		return
	}
	s.rows[h] = at
}

// Len is the number of embeddings known.
func (s *Store) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.rows)
}

// Dim is d, or 0 while the store is empty.
func (s *Store) Dim() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.dim
}

// Damaged counts the rows and keys whose checksums failed.
func (s *Store) Damaged() int { return int(s.damaged.Load()) }

// Get returns a new copy of the embedding of h. A damaged row is a miss.
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

var errChecksum = errors.New("checksum does not hold")

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
	decodeRow(v, row)
	return v, nil
}

func (s *Store) buffer(size int) *[]byte {
	if b, ok := s.buffers.Get().(*[]byte); ok && cap(*b) >= size {
		return b
	}
	b := make([]byte, size)
	return &b
}

// drop forgets one copy of a row; the next one, if any, takes its place.
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
		s.log.Warn("embedding cache: damaged row, computed again", "file", s.path(s.shards[at.shard].slot, ".vec"), "row", at.row)
	}
}
