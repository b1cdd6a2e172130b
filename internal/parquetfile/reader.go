package parquetfile

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/seed-90d10d51/pipeline/internal/quota"
)

// A Reader reads the values of a column in a group of rows, one by one.
type Reader struct {
	name   string
	stream *pageStream
	pages  *parquet.FilePages
	page   parquet.Page
	values parquet.ValueReader
	buffer [64]parquet.Value
	unread []parquet.Value
}

// readerBytes is what a Reader takes without pages.
const readerBytes = 16 << 10

// Column returns a Reader of a column, by its number in Names. Close it.
func (f *File) Column(group, number int) (*Reader, error) {
	c := f.columns[number]
	s, err := f.newPageStream(group, c)
	if err != nil {
		return nil, fmt.Errorf("column %q: %w", c.name, err)
	}
	return &Reader{name: c.name, stream: s, pages: c.chunk.PagesFrom(s)}, nil
}

// Next returns the next value, which is valid until the next call. Errors wrap
// ErrDamaged, ErrUnsupported or quota.ErrExceeded; there is no other end.
func (r *Reader) Next() (v parquet.Value, err error) {
	defer recoverDamaged(&err)
	for len(r.unread) == 0 {
		if err := r.fill(); err != nil {
			return v, r.failure(err)
		}
	}
	v, r.unread = r.unread[0], r.unread[1:]
	return v, nil
}

// fill reads values, or the next page.
func (r *Reader) fill() (err error) {
	if r.values == nil {
		if r.page, err = r.pages.ReadPage(); err != nil {
			return err
		}
		r.values = r.page.Values()
	}
	n, err := r.values.ReadValues(r.buffer[:])
	switch {
	case n > 0:
		r.unread = r.buffer[:n]
		return nil
	case err == nil:
		return io.ErrNoProgress
	case err != io.EOF:
		return err
	}
	r.release()
	return nil
}

func (r *Reader) release() {
	parquet.Release(r.page)
	r.page, r.values = nil, nil
}

// failure returns why the pages end, rather than what the library makes of it.
func (r *Reader) failure(err error) error {
	if r.stream.err != nil && r.stream.err != io.EOF {
		err = r.stream.err
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	known := errors.Is(err, ErrDamaged) || errors.Is(err, ErrUnsupported) || errors.Is(err, quota.ErrExceeded)
	if !known {
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return fmt.Errorf("column %q: %w", r.name, err)
}

// Close gives back what the Reader takes.
func (r *Reader) Close() {
	if r.page != nil {
		r.release()
	}
	_ = r.pages.Close() // of memory
	r.stream.close()
}
