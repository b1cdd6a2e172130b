// Package quota bounds what reading one file may take. A parser asks before it
// allocates, or repeats something, as often as the file says: a few bytes can
// claim any number, and can name the same bytes again and again.
package quota

import (
	"errors"
	"fmt"
)

// ErrExceeded means that a file takes more than it may.
var ErrExceeded = errors.New("takes too much memory")

// A Quota counts the bytes that are taken at the same time. What only costs time
// is counted in bytes too, and never given back. It is not safe for concurrent
// use.
type Quota struct{ limit, taken, most int64 }

// New returns a Quota of a number of bytes.
func New(limit int64) *Quota { return &Quota{limit: limit} }

// Take takes n bytes, or nothing if that exceeds the Quota. The error wraps
// ErrExceeded.
func (q *Quota) Take(n int64) error {
	if n < 0 || n > q.limit-q.taken {
		return fmt.Errorf("%w: more than %s", ErrExceeded, bytes(q.limit))
	}
	q.taken += n
	q.most = max(q.most, q.taken)
	return nil
}

func bytes(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%dMiB", n>>20)
}

// Give gives back n bytes that were taken.
func (q *Quota) Give(n int64) { q.taken -= n }

// Most returns the most bytes that were taken at the same time.
func (q *Quota) Most() int64 { return q.most }
