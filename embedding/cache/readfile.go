package cache

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

// A FileState shows, without reading a file, whether it is unchanged.
type FileState struct {
	Size    int64 // bytes
	MtimeNs int64 // modification time, nanoseconds since 1970
	Inode   uint64
	// CtimeNs is when the content, name or rights changed, which no program can set as it sets MtimeNs; 0 is
	// unknown.
	CtimeNs int64
}

// same reports whether a recorded state is that of a file. Caches of 0.2 have no time of change.
func (s FileState) same(now FileState) bool {
	if s.CtimeNs == 0 {
		now.CtimeNs = 0
	}
	return s == now
}

// Changed returns when the file was last changed.
func (s FileState) Changed() time.Time { return time.Unix(0, cmp.Or(s.CtimeNs, s.MtimeNs)) }

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

// ErrFileChanged means that a file changed while it was read.
var ErrFileChanged = errors.New("the file changed while it was read; run again when it is complete")

// Stat returns the state of a file without reading it.
func Stat(abs string) (FileState, error) {
	info, err := os.Stat(abs)
	switch {
	case err != nil:
		return FileState{}, bare(err)
	case !info.Mode().IsRegular():
		return FileState{}, regularfile.ErrNotRegular
	}
	return stateOf(info), nil
}

// bare strips the path from an error, because the caller names it.
func bare(err error) error {
	var pathErr *fs.PathError
	switch {
	case errors.Is(err, regularfile.ErrNotRegular):
		return regularfile.ErrNotRegular
	case errors.As(err, &pathErr):
		return fmt.Errorf("cannot be read: %w", pathErr.Err)
	}
	return err
}

// ReadStable reads a file into buf (grown as needed) and returns its state,
// which did not change during the read. If the file does change, it is read
// once more. A file of more than the expected size has changed too.
func ReadStable(abs string, buf []byte, size int64) ([]byte, FileState, error) {
	for range 2 {
		var state FileState
		var err error
		buf, state, err = readOnce(abs, buf, size)
		if !errors.Is(err, ErrFileChanged) {
			return buf, state, err
		}
	}
	return buf[:0], FileState{}, ErrFileChanged
}

func readOnce(abs string, buf []byte, size int64) (content []byte, before FileState, err error) {
	f, _, err := regularfile.Open(abs)
	if err != nil {
		return buf[:0], before, bare(err)
	}
	defer f.Close()
	if before, err = openState(f); err != nil {
		return buf[:0], before, err
	}
	if before.Size > size {
		return buf[:0], before, ErrFileChanged
	}
	if buf, err = readSize(f, buf, before.Size); err != nil {
		return buf, before, err
	}
	after, err := openState(f)
	if err == nil && after != before {
		err = ErrFileChanged
	}
	return buf, before, err
}

func openState(f *os.File) (FileState, error) {
	info, err := f.Stat()
	if err != nil {
		return FileState{}, bare(err)
	}
	return stateOf(info), nil
}

// readSize reads exactly size bytes, and checks whether there are more.
func readSize(f *os.File, buf []byte, size int64) ([]byte, error) {
	if int64(cap(buf)) <= size {
		buf = make([]byte, size+1)
	}
	n, err := io.ReadFull(f, buf[:size+1])
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return buf[:0], bare(err)
	}
	if int64(n) != size {
		return buf[:0], ErrFileChanged
	}
	return buf[:size], nil
}
