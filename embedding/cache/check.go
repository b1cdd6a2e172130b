package cache

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	bolt "go.etcd.io/bbolt"
)

// check looks at a database before anything trusts it. What is damaged on a page does no harm,
// since guard and checksums find it; but in a tree of pages with a way back the database would
// go round until the stack is full. So no page may be reached twice. The pages are read from the
// file and not from memory, where one that is missing would be a fault.
func (f *file) check(tx *bolt.Tx) error {
	if f.db.Info().PageSize != pageBytes {
		return errVersion
	}
	info, err := f.handle.Stat()
	if err != nil {
		return err
	}
	if tx.Size() > info.Size() {
		return fmt.Errorf("%w: %d of %d bytes are there", errDamaged, info.Size(), tx.Size())
	}
	w := walk{file: f.handle, seen: make([]bool, tx.Size()/pageBytes)}
	top := uint64(tx.Cursor().Bucket().Root())
	if err := w.tree(top, w.buckets); err != nil {
		return err
	}
	for _, root := range w.roots {
		if err := w.tree(root, nil); err != nil {
			return err
		}
	}
	if first, _ := tx.Cursor().First(); first == nil {
		return errUnused
	}
	if tx.Bucket(rowBucket) == nil || tx.Bucket(keyBucket) == nil || tx.Bucket(pathBucket) == nil {
		return errVersion
	}
	return nil
}

// The kinds of pages. A page begins with its number u64, its kind u16, the number of elements
// u16 and the number of further pages u32, in the order of bytes of the machine.
const (
	headerBytes           = 16
	branch, leaf          = 1, 2
	metaPage, freePages   = 4, 16
	elementBytes          = 16
	bucketElement, noRoot = 1, 0
)

// A walk visits the pages of a database.
type walk struct {
	file  io.ReaderAt
	seen  []bool   // pages
	roots []uint64 // of buckets
}

// tree visits the pages under root, level by level, each in the order of the file, and passes
// the leaves to a function.
func (w *walk) tree(root uint64, leaves func(page uint64) error) error {
	for level := []uint64{root}; len(level) > 0; {
		slices.Sort(level)
		var next []uint64
		for _, page := range level {
			if page >= uint64(len(w.seen)) || w.seen[page] {
				return fmt.Errorf("%w: page %d is where it cannot be", errDamaged, page)
			}
			w.seen[page] = true
			children, err := w.children(page, leaves)
			if err != nil {
				return err
			}
			next = append(next, children...)
		}
		level = next
	}
	return nil
}

// children returns the pages that a page leads to. One that is not what it should be leads to
// none, because the database refuses it, too.
func (w *walk) children(page uint64, leaves func(page uint64) error) (pages []uint64, err error) {
	head := make([]byte, headerBytes)
	if _, err := w.file.ReadAt(head, int64(page*pageBytes)); err != nil {
		return nil, err
	}
	number, kind := binary.NativeEndian.Uint64(head), binary.NativeEndian.Uint16(head[8:])
	switch {
	case number != page:
		return nil, nil
	case kind == metaPage || kind == freePages:
		return nil, fmt.Errorf("%w: page %d is of another kind", errDamaged, page)
	case kind == leaf && leaves != nil:
		return nil, leaves(page)
	case kind != branch:
		return nil, nil
	}
	elements := make([]byte, elementBytes*int(binary.NativeEndian.Uint16(head[10:])))
	if _, err := w.file.ReadAt(elements, int64(page*pageBytes+headerBytes)); err != nil {
		return nil, err
	}
	for ; len(elements) > 0; elements = elements[elementBytes:] { // position u32, length of the key u32, page u64
		pages = append(pages, binary.NativeEndian.Uint64(elements[8:]))
	}
	return pages, nil
}

var errBuckets = errors.New("its table of buckets")

// buckets collects the roots of the buckets that are listed on a leaf. A small bucket has its
// only page there, after the root 0 and a sequence u64.
func (w *walk) buckets(page uint64) error {
	b := make([]byte, pageBytes)
	if _, err := w.file.ReadAt(b, int64(page*pageBytes)); err != nil {
		return err
	}
	for i := range int(binary.NativeEndian.Uint16(b[10:])) {
		at := headerBytes + i*elementBytes // kind u32, position of the key u32, lengths of key and value u32
		if at+elementBytes > len(b) {
			return fmt.Errorf("%w: %w", errDamaged, errBuckets)
		}
		word := func(i int) int { return int(binary.NativeEndian.Uint32(b[at+4*i:])) }
		value := at + word(1) + word(2)
		if word(0)&bucketElement == 0 || value+2*headerBytes > len(b) {
			return fmt.Errorf("%w: %w", errDamaged, errBuckets)
		}
		root, kind := binary.NativeEndian.Uint64(b[value:]), binary.NativeEndian.Uint16(b[value+headerBytes+8:])
		switch {
		case root != noRoot:
			w.roots = append(w.roots, root)
		case kind != leaf:
			return fmt.Errorf("%w: %w", errDamaged, errBuckets)
		}
	}
	return nil
}
