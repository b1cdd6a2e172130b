package cache

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/gofrs/flock"
)

// The modes of what the cache makes: embeddings and paths say what photos show and where
// they are.
const private, privateDir fs.FileMode = 0o600, 0o700

// A slot is the base name of the files that one writer appends to: "000001".
// Its lock file persists; the lock ends with the process.
func slotName(n int) string { return fmt.Sprintf("%06d", n) }

// lockSlot returns nil if another writer has the slot.
func lockSlot(dir, slot string) (*flock.Flock, error) {
	lock := flock.New(filepath.Join(dir, slot+".lock"), flock.SetPermissions(private))
	held, err := lock.TryLock()
	if err != nil {
		return nil, err
	}
	if !held {
		return nil, lock.Close()
	}
	return lock, nil
}

// errOtherSlot, like errVersion, means that a writer must use another slot.
var errOtherSlot = errors.New("file of another kind")

// firstSlot locks the first slot that no other writer has and that open accepts.
func firstSlot(dir string, open func(slot string, lock *flock.Flock) error) error {
	if err := os.MkdirAll(dir, privateDir); err != nil {
		return err
	}
	for n := 1; ; n++ {
		lock, err := lockSlot(dir, slotName(n))
		if err != nil {
			return err
		}
		if lock == nil {
			continue
		}
		if err = open(slotName(n), lock); err == nil {
			return nil
		}
		if closeErr := lock.Close(); closeErr != nil || !errors.Is(err, errOtherSlot) && !errors.Is(err, errVersion) {
			return errors.Join(err, closeErr)
		}
	}
}

// slots lists the slots in dir that have a file with this extension, in order.
func slots(dir, ext string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var found []string
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ext)
		if _, err := strconv.ParseUint(name, 10, 32); ok && err == nil && e.Type().IsRegular() {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found, nil
}

// unwritable reports whether an error means that the cache is read-only. The
// run then continues without writing.
func unwritable(err error) bool {
	reasons := []error{fs.ErrPermission, errors.ErrUnsupported, syscall.EROFS, syscall.ENOLCK, syscall.ENOTSUP,
		syscall.ENOSYS}
	return slices.ContainsFunc(reasons, func(reason error) bool { return errors.Is(err, reason) })
}

// writeError wraps a write error, if there is one, with advice.
func writeError(dir string, err error) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("write cache %s: %w", dir, err)
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		err = fmt.Errorf("%w; free some space or choose another folder with --cache", err)
	}
	return err
}
