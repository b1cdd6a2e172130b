package cache

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	// pause is how much longer the time between two groups is than the time that writing one takes.
	pause = 20
	// groupBytes is the size at which a group is written in any case.
	groupBytes = 8 << 20
	// fullBytes is the size at which a process begins another database: the larger the tables of
	// keys, the more of their pages change with each group.
	fullBytes = 512 << 20
)

func (c *Cache) writeDue() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.write(); err != nil {
		c.failed = err
	}
}

// write writes the group. c.mu is held.
func (c *Cache) write() error {
	if c.due != nil {
		c.due.Stop()
		c.due = nil
	}
	if c.group.bytes == 0 {
		return nil
	}
	group, began := c.group, time.Now()
	c.group = newBatch()
	err := c.writeOwn(group)
	c.took = time.Since(began)
	if unwritable(err) {
		c.readOnly = true
		c.log.Warn("embedding cache cannot be written; continuing read-only", "folder", c.dir, "reason", err)
		return nil
	}
	return writeError(c.dir, err)
}

// writeOwn writes a group to the database of this process; to a new one if somebody has
// damaged that.
func (c *Cache) writeOwn(group *batch) error {
	if c.own != nil && c.own.bytes >= c.full {
		if err := c.release(); err != nil {
			return err
		}
	}
	if c.own != nil {
		err := c.own.write(group)
		if !errors.Is(err, errDamaged) {
			return err
		}
		c.note(c.own, err)
	}
	own, err := create(c.dir)
	if err != nil {
		return err
	}
	c.own = own
	c.files = append(c.files, own)
	return own.write(group)
}

// Flush writes what is not written yet and lets other processes read it. It is called at the
// end of a pass over files.
func (c *Cache) Flush() error {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.flush()
}

func (c *Cache) flush() error {
	err := errors.Join(c.failed, c.write())
	c.failed = nil
	if c.own == nil {
		return err
	}
	if err := errors.Join(err, writeError(c.dir, c.release())); err != nil {
		return err
	}
	if err := c.merge(); err != nil {
		c.log.Warn("embedding cache: its small files are not merged", "folder", c.dir, "reason", err)
	}
	return nil
}

// release ends writing to the database of this process and opens all that there are for reading.
func (c *Cache) release() error {
	own := c.own
	c.own = nil
	c.forget(own)
	if own.rows == 0 { // it could not be written
		return own.discard()
	}
	return errors.Join(own.close(), c.adopt())
}

func (c *Cache) forget(f *file) {
	c.files = slices.DeleteFunc(c.files, func(other *file) bool { return other == f })
}

// Close is Flush and gives everything back.
func (c *Cache) Close() error {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	err := c.flush()
	for _, f := range c.files {
		err = errors.Join(err, f.close())
	}
	c.files = nil
	return err
}

// unwritable reports whether an error means that the cache is read-only. The
// run then continues without writing.
func unwritable(err error) bool {
	return because(err, fs.ErrPermission, errors.ErrUnsupported, syscall.EROFS, syscall.ENOLCK, syscall.ENOTSUP,
		syscall.ENOSYS)
}

// because reports whether an error has one of some reasons. bbolt wraps the text of some
// errors of the system, not the errors.
func because(err error, reasons ...error) bool {
	return err != nil && slices.ContainsFunc(reasons, func(reason error) bool {
		return errors.Is(err, reason) || strings.HasSuffix(err.Error(), reason.Error())
	})
}

// writeError wraps a write error, if there is one, with advice.
func writeError(dir string, err error) error {
	if err == nil {
		return nil
	}
	full := because(err, syscall.ENOSPC, syscall.EDQUOT)
	err = fmt.Errorf("write cache %s: %w", dir, err)
	if full {
		err = fmt.Errorf("%w; free some space or choose another folder for the cache", err)
	}
	return err
}
