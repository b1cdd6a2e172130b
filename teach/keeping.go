package teach

import (
	"bytes"
	"errors"
	"path/filepath"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

const (
	leastProbe = 4 << 10 // bytes that a probe writes
	probeAfter = 5 * time.Second
)

// A keeping tells whether what is decided can be written down.
type keeping struct {
	last   error     // why the last line was not written, nil if it was
	bytes  int       // that were to be written then
	torn   bool      // what failed is perhaps still at the end of the file
	at     time.Time // of the last write that succeeded
	failed int       // writes
}

// put writes a text at the end of the journal, or leaves the journal as it was.
func (j *journal) put(text []byte) error {
	err := j.extend(text)
	if err == nil {
		j.keeping.last, j.keeping.at = nil, time.Now()
		return nil
	}
	j.keeping.failed++
	return j.unkept(err, len(text))
}

// extend writes a text at the end of the file. What a failed sync has left on disk is unknown:
// nothing may follow it before settle.
func (j *journal) extend(text []byte) error {
	_, err := j.file.Write(text)
	if err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		j.keeping.torn = true
		_ = j.settle() // or before the next write
	}
	return err
}

// settle removes what a write that failed has left.
func (j *journal) settle() error {
	if !j.keeping.torn {
		return nil
	}
	if err := errors.Join(j.cut(), j.file.Sync()); err != nil {
		return err
	}
	j.keeping.torn = false
	return nil
}

// unkept remembers why a text of n bytes cannot be written.
func (j *journal) unkept(err error, n int) error {
	j.keeping.bytes = n
	j.keeping.last = refuse(Unkept, "%s cannot be written, and nothing was changed (%v): free some space, or make it "+
		"writable; decisions are kept again as soon as that succeeds", filepath.Base(j.path), regularfile.Cause(err))
	return j.keeping.last
}

// probe writes as much as could not be written, takes it away again, and returns why that fails. A
// kill in between leaves a line without an end, which is none.
func (j *journal) probe() error {
	if err := j.settle(); err != nil {
		return j.unkept(err, j.keeping.bytes)
	}
	if err := j.intact(); err != nil {
		return err
	}
	n := max(j.keeping.bytes, leastProbe)
	if err := j.extend(bytes.Repeat([]byte{' '}, n)); err != nil {
		return j.unkept(err, n)
	}
	j.keeping.torn = true
	if err := j.settle(); err != nil {
		return j.unkept(err, n)
	}
	j.keeping.last, j.keeping.at = nil, time.Now()
	return nil
}

// Healthy returns an error if decisions cannot be kept, and says what to do. It finds out by
// writing, unless that succeeded a moment ago.
func (s *Session) Healthy() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.intact(); err != nil && !s.journal.keeping.torn {
		return err
	}
	if s.journal.keeping.last == nil && time.Since(s.journal.keeping.at) < probeAfter {
		return nil
	}
	return s.journal.probe()
}

// Unkept returns why decisions cannot be kept, as far as is known without writing.
func (s *Session) Unkept() error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.journal.keeping.last
}
