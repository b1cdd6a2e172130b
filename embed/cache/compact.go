package cache

import (
	"bufio"
	"encoding/binary"
	"errors"
	"math"
	"strconv"

	"github.com/gofrs/flock"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
)

// An index is rewritten when more than half of its records, and more than
// staleRecords, are stale.
const staleRecords = 4096

// acquire locks a file for this process to append to.
func (x *Index) acquire() error {
	if x.writer != nil {
		return nil
	}
	if x.records > 2*len(x.entries)+staleRecords {
		if err := x.compact(); err != nil {
			return err
		}
	}
	return firstSlot(x.dir, func(slot string, lock *flock.Flock) (err error) {
		x.lock = lock
		x.writer, err = openRecords(x.path(slot), indexFormat(), 0, math.MaxInt)
		return err
	})
}

// compact replaces all files by one with the newest entry of each path. It does
// nothing while another process writes. Concurrent readers at worst miss
// entries, and hash those files again.
func (x *Index) compact() error {
	found, err := slots(x.dir, ".idx")
	if err != nil || len(found) == 0 {
		return err
	}
	locks, err := x.lockAll(found)
	defer func() {
		for _, l := range locks {
			l.Close()
		}
	}()
	if err != nil || len(locks) < len(found) {
		return err
	}
	for _, slot := range found { // what others have written since Open
		if _, err := x.read(slot); errors.Is(err, errVersion) {
			return nil
		}
	}
	target, err := nextSlot(found[len(found)-1])
	if err != nil {
		return err
	}
	_, _ = atomicfile.RemoveStale(x.dir) // from killed compactions
	lock, err := lockSlot(x.dir, target)
	if err != nil || lock == nil {
		return err
	}
	defer lock.Close()
	if err := x.writeAll(target); err != nil {
		return err
	}
	for _, slot := range found {
		if err := atomicfile.Remove(x.path(slot)); err != nil {
			return err
		}
	}
	x.records = len(x.entries)
	return nil
}

// lockAll returns fewer locks than slots if another writer holds one of them.
func (x *Index) lockAll(found []string) ([]*flock.Flock, error) {
	var locks []*flock.Flock
	for _, slot := range found {
		lock, err := lockSlot(x.dir, slot)
		if err != nil || lock == nil {
			return locks, err
		}
		locks = append(locks, lock)
	}
	return locks, nil
}

func nextSlot(slot string) (string, error) {
	n, err := strconv.Atoi(slot)
	return slotName(n + 1), err
}

func (x *Index) writeAll(slot string) error {
	return atomicfile.Write(x.path(slot), func(f *atomicfile.File) error {
		out := bufio.NewWriterSize(f, 1<<18)
		if _, err := out.Write(indexFormat().header(0)); err != nil {
			return err
		}
		for d, e := range x.entries {
			payload := e.payload(d)
			if _, err := out.Write(binary.LittleEndian.AppendUint32(payload, checksum(payload))); err != nil {
				return err
			}
		}
		return out.Flush()
	})
}
