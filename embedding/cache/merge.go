package cache

import (
	"cmp"
	"errors"
	"slices"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
)

const (
	// mergeFrom is the least number of databases that become one.
	mergeFrom = 4
	// smallBytes is the size up to which a database is small in any case.
	smallBytes = 1 << 20
)

// merge makes one database of several, such as those of runs with a few photos each and of
// killed processes.
func (c *Cache) merge() error {
	group := c.mergeable()
	if len(group) < mergeFrom {
		return nil
	}
	into, err := create(c.dir)
	if err != nil {
		return err
	}
	copied, err := c.copyAll(group, into)
	if err != nil || len(copied) == 0 {
		return errors.Join(err, into.discard())
	}
	if err := into.close(); err != nil {
		return err
	}
	for i, f := range copied {
		c.forget(f)
		if err := f.discard(); err != nil && i == 0 { // Windows keeps what another process has open
			return errors.Join(err, atomicfile.Remove(into.path), c.adopt())
		}
	}
	return c.adopt()
}

// mergeable returns the smallest files, as long as each is no larger than those before it
// together: so a row is copied about once for each time that the cache doubles.
func (c *Cache) mergeable() (group []*file) {
	total := int64(smallBytes)
	bySize := slices.Clone(c.files)
	slices.SortFunc(bySize, func(a, b *file) int { return cmp.Compare(a.bytes, b.bytes) })
	for _, f := range bySize {
		if f.bytes > min(total, c.full) {
			break
		}
		total += f.bytes
		group = append(group, f)
	}
	return group
}

// copyAll writes what is in several databases into another, and returns those of which
// nothing is lost. Of a path the last state counts.
func (c *Cache) copyAll(group []*file, into *file) (copied []*file, err error) {
	slices.SortFunc(group, func(a, b *file) int { return cmp.Compare(a.path, b.path) })
	for _, f := range group {
		err := f.copyTo(into.write)
		switch {
		case err == nil:
			copied = append(copied, f)
		case errors.Is(err, errDamaged) && !into.stuck:
			c.note(f, err)
		default:
			return nil, err
		}
	}
	return copied, nil
}

// copyTo writes what is sound in f.
func (f *file) copyTo(write func(*batch) error) error {
	return f.look(func(v view) error {
		b := newBatch()
		writeFrom := func(bytes int) (err error) {
			if b.bytes >= bytes {
				err, b = write(b), newBatch()
			}
			return err
		}
		err := v.rows.ForEach(func(_, record []byte) error {
			if len(record) < len(rowKey{}) {
				return nil
			}
			key := rowKey(record[:len(rowKey{})])
			if _, sound := unseal(record, key[:]); sound {
				b.addRow(key, record)
			}
			return writeFrom(groupBytes)
		})
		if err != nil {
			return err
		}
		err = v.paths.ForEach(func(key, record []byte) error {
			if _, sound := unseal(record, key); sound && len(key) == len(pathKey{}) {
				b.addPath(pathKey(key), record)
			}
			return writeFrom(groupBytes)
		})
		return errors.Join(err, writeFrom(0))
	})
}
