package cache

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"github.com/gofrs/flock"
)

func rowBytes(dim int) int { return 4 * dim }

// A keyEntry is one key record; its position in the file is its row.
type keyEntry struct {
	row      int
	hash     Hash
	checksum uint32
}

func parseKey(row int, payload []byte) keyEntry {
	e := keyEntry{row: row}
	n := copy(e.hash[:], payload)
	e.checksum = binary.LittleEndian.Uint32(payload[n:])
	return e
}

func (e keyEntry) payload() []byte {
	return binary.LittleEndian.AppendUint32(append([]byte(nil), e.hash[:]...), e.checksum)
}

// Put stores an embedding unless its hash is already stored. If the cache is
// not writable, this is logged once and Put does nothing; a full disk is an
// error. After an error the store is still consistent.
func (s *Store) Put(h Hash, v []float32) error {
	s.appendMu.Lock()
	defer s.appendMu.Unlock()
	if s.closed {
		return fmt.Errorf("write cache %s: %w", s.dir, os.ErrClosed)
	}
	if s.readOnly || s.has(h) {
		return nil
	}
	err := s.append(h, v)
	if unwritable(err) {
		s.readOnly = true
		s.log.Warn("embedding cache cannot be written; continuing read-only", "folder", s.dir, "reason", err)
		return nil
	}
	return writeError(s.dir, err)
}

func (s *Store) has(h Hash) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	_, known := s.rows[h]
	return known
}

func (s *Store) append(h Hash, v []float32) error {
	if dim := s.Dim(); len(v) == 0 || (dim != 0 && len(v) != dim) {
		return fmt.Errorf("embedding of size %d, the cache of this backbone has %d", len(v), dim)
	}
	if s.writer != nil && s.writer.full(s.shardBytes) {
		err := s.writer.close()
		s.writer = nil
		if err != nil {
			return err
		}
	}
	if s.writer == nil {
		if err := s.acquire(len(v)); err != nil {
			return err
		}
	}
	at, err := s.writer.append(h, v)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dim = len(v)
	at.shard = s.shardNumber(s.writer.shard)
	s.writer.shard.loaded = s.writer.key.records
	s.add(h, at)
	return nil
}

// acquire locks the first shard that is neither full nor in use by another
// writer.
func (s *Store) acquire(dim int) error {
	return firstSlot(s.dir, func(slot string, lock *flock.Flock) (err error) {
		s.writer, err = s.openWriter(slot, lock, dim)
		return err
	})
}

// openWriter returns errOtherSlot if the shard is full or of another dimension.
func (s *Store) openWriter(slot string, lock *flock.Flock, dim int) (*shardWriter, error) {
	vec, err := os.OpenFile(s.path(slot, ".vec"), os.O_RDWR|os.O_CREATE, private)
	if err != nil {
		return nil, err
	}
	w := &shardWriter{lock: lock, vec: vec, row: make([]byte, rowBytes(dim))}
	if err = s.repair(w, slot, dim); err == nil {
		w.shard, err = s.load(slot)
	}
	if err == nil && !w.full(s.shardBytes) {
		return w, nil
	}
	vec.Close()
	if w.key != nil {
		w.key.f.Close()
	}
	return nil, cmp.Or(err, errOtherSlot)
}

// repair opens the keys and truncates both files to complete rows.
func (s *Store) repair(w *shardWriter, slot string, dim int) error {
	info, err := w.vec.Stat()
	if err != nil {
		return err
	}
	rows := int(info.Size() / int64(rowBytes(dim)))
	if w.key, err = openRecords(s.path(slot, ".key"), keyFormat(), dim, rows); err != nil {
		return err
	}
	if complete := int64(w.key.records) * int64(rowBytes(dim)); info.Size() != complete {
		return w.vec.Truncate(complete)
	}
	return nil
}

// A shardWriter appends to one locked shard.
type shardWriter struct {
	shard *shard
	lock  *flock.Flock
	vec   *os.File
	key   *recordWriter
	row   []byte
}

func (w *shardWriter) full(shardBytes int64) bool {
	next := int64(w.key.records+1) * int64(len(w.row))
	return w.key.records > 0 && next > shardBytes
}

// append writes the row, then the key, which makes it visible.
func (w *shardWriter) append(h Hash, v []float32) (location, error) {
	if _, err := binary.Encode(w.row, binary.LittleEndian, v); err != nil {
		return location{}, err
	}
	row := w.key.records
	if _, err := w.vec.WriteAt(w.row, int64(row)*int64(len(w.row))); err != nil {
		return location{}, err
	}
	e := keyEntry{hash: h, checksum: checksum(w.row)}
	if err := w.key.append(e.payload()); err != nil {
		return location{}, err
	}
	return location{row: uint32(row), checksum: e.checksum}, nil
}

func (w *shardWriter) close() error {
	return errors.Join(w.vec.Sync(), w.vec.Close(), w.key.close(), w.lock.Close())
}

// Close makes written rows durable and releases the shard to other writers.
func (s *Store) Close() error {
	s.appendMu.Lock()
	defer s.appendMu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	var errs []error
	if s.writer != nil {
		errs = append(errs, s.writer.close())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sh := range s.shards {
		errs = append(errs, sh.vec.Close())
	}
	return writeError(s.dir, errors.Join(errs...))
}
