package organise

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
	"github.com/seed-90d10d51/pipeline/label"
)

// How is what the class folders contain.
type How string

// Links are symbolic links to the photos; Copies are copies with the photos'
// time stamps; HardLinks are further names of the same files, and copies where the file
// system has no such links.
const (
	Links     How = "link"
	Copies    How = "copy"
	HardLinks How = "hard link"
)

// LinksIn returns Links if symbolic links can be made in a folder, otherwise HardLinks:
// Windows lets only administrators make them, or everybody in developer mode, and some
// file systems have none.
func LinksIn(dir string) How {
	probe := filepath.Join(dir, ".link")
	err := os.Symlink(dir, probe)
	info, missing := os.Lstat(probe) // Wine makes none, without an error
	if missing == nil {
		_ = atomicfile.Remove(probe)
	}
	if err != nil || missing != nil || info.Mode()&fs.ModeSymlink == 0 {
		return HardLinks
	}
	return Links
}

// Place makes a link to a photo, or a copy of it, for which it reuses the copy of an
// earlier run, "" for none, if it is still good.
func (h How) Place(photo, to, earlier string) error {
	if h == Links {
		return os.Symlink(photo, to)
	}
	if h == HardLinks && hardLink(photo, to) == nil {
		return nil
	}
	info, err := os.Stat(photo)
	if err != nil {
		return &label.ItemError{Err: err}
	}
	if sameCopy(earlier, info) && os.Link(earlier, to) == nil {
		return nil
	}
	return copyFile(photo, to, info)
}

// hardLink gives a photo, not a link to it, another name.
func hardLink(from, to string) error {
	photo, err := filepath.EvalSymlinks(from)
	if err != nil {
		return err
	}
	if info, err := os.Lstat(photo); err != nil || !info.Mode().IsRegular() {
		return errors.Join(regularfile.ErrNotRegular, err)
	}
	return os.Link(photo, to)
}

// sameCopy reports whether file is a regular file with the size and time of the
// original, and not the original itself under another name.
func sameCopy(file string, original fs.FileInfo) bool {
	info, err := os.Lstat(file)
	return err == nil && info.Mode().IsRegular() && !os.SameFile(info, original) &&
		info.Size() == original.Size() && sameTime(info.ModTime(), original.ModTime())
}

// cutFrom reports whether a file has the time of a photo.
func cutFrom(file, photo string) bool {
	made, err := os.Lstat(file)
	of, err2 := os.Stat(photo)
	return err == nil && err2 == nil && sameTime(made.ModTime(), of.ModTime())
}

// sameFile reports whether two names, which are no symbolic links, are of one file.
func sameFile(a, b string) bool {
	one, err1 := os.Lstat(a)
	other, err2 := os.Lstat(b)
	return err1 == nil && err2 == nil && os.SameFile(one, other)
}

// sameBytes reports whether two regular files have the same content.
func sameBytes(a, b string) bool {
	one, size, err := regularfile.Open(a)
	if err != nil {
		return false
	}
	defer one.Close()
	other, size2, err := regularfile.Open(b)
	if err != nil {
		return false
	}
	defer other.Close()
	const block = 1 << 16
	left, right := make([]byte, block), make([]byte, block)
	for at := int64(0); size == size2 && at < size; at += block {
		n := int(min(block, size-at))
		_, err := io.ReadFull(one, left[:n])
		_, err2 := io.ReadFull(other, right[:n])
		if err != nil || err2 != nil || !bytes.Equal(left[:n], right[:n]) {
			return false
		}
	}
	return size == size2
}

func copyFile(from, to string, info fs.FileInfo) error {
	in, _, err := regularfile.Open(from) // what was one may be a pipe by now
	if err != nil {
		return &label.ItemError{Err: err}
	}
	defer in.Close()
	photo := &source{file: in}
	err = writeNew(to, io.LimitReader(photo, info.Size()+1), info)
	if err == nil && photo.n != info.Size() {
		photo.err = errors.Join(fmt.Errorf("it changed while it was copied (%d bytes, then %d)", info.Size(), photo.n),
			atomicfile.Remove(to))
	}
	if photo.err != nil {
		return &label.ItemError{Err: photo.err}
	}
	return err
}

// A source tells what goes wrong with the photo from what goes wrong with the disk of the results.
type source struct {
	file io.Reader
	n    int64
	err  error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.file.Read(p)
	s.n += int64(n)
	if err != io.EOF {
		s.err = err
	}
	return n, err
}

// writeNew writes a file that is not there yet, with the time of a photo. The time is set last, so that half a
// file never looks like a good one; what some disks set otherwise is only not used again.
func writeNew(to string, from io.Reader, photo fs.FileInfo) error {
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, from)
	err = errors.Join(err, out.Close())
	if err != nil {
		return errors.Join(err, atomicfile.Remove(to))
	}
	_ = os.Chtimes(to, photo.ModTime(), photo.ModTime())
	return nil
}

// sameTime reports whether the time of a copy is that of its original, in the units of the disk that it is on: 100
// nanoseconds on NTFS, a hundredth of a second, one or two seconds on exFAT, HFS+ and FAT, rounded up or down.
func sameTime(of, original time.Time) bool {
	for _, unit := range []time.Duration{1, 100, 10 * time.Millisecond, time.Second, 2 * time.Second} {
		down := original.Truncate(unit)
		if of.Equal(down) || of.Equal(down.Add(unit)) && unit > 1 {
			return true
		}
	}
	return false
}
