package backbone

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/download"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

// stallLimit is how long a transfer may stall before it counts as broken.
const stallLimit = time.Minute

// A transfer fills one part file.
type transfer struct {
	entry    Entry
	part     string
	client   *http.Client
	progress func(doneBytes, totalBytes int64)
}

// A brokenError is a transfer that ended early; another attempt may resume it.
type brokenError struct{ cause error }

func (e *brokenError) Error() string { return "connection broken: " + e.cause.Error() }
func (e *brokenError) Unwrap() error { return e.cause }

// errTooLong is of a file that cannot be the right one.
var errTooLong = errors.New("the file is longer")

// attempt makes one request for the bytes missing from the part file. It
// returns nil if the part file is complete, and whether it contains bytes of
// earlier attempts.
func (d *transfer) attempt(ctx context.Context, address string) (resumed bool, err error) {
	file, err := regularfile.EditOwn(d.part, 0o644)
	if err != nil {
		return false, err
	}
	defer func() {
		err = errors.Join(err, file.Close())
		if errors.Is(err, errTooLong) {
			err = errors.Join(err, atomicfile.Remove(d.part))
		}
	}()
	have, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return false, err
	}
	if d.entry.Bytes > 0 && have == d.entry.Bytes {
		return true, nil
	}
	if have > d.limit() {
		have = 0
	}
	return d.request(ctx, address, file, have)
}

// limit returns the maximum size of the file.
func (d *transfer) limit() int64 { return cmp.Or(d.entry.Bytes, maxFileBytes) }

func (d *transfer) request(ctx context.Context, address string, file *os.File, have int64) (resumed bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	response, err := d.get(ctx, address, have)
	if err != nil {
		return false, err
	}
	defer response.Body.Close()
	start, err := startOf(response, have)
	if err != nil {
		return false, errors.Join(err, truncateTo(file, start))
	}
	if n := start + response.ContentLength; n > d.limit() {
		return false, fmt.Errorf("the server announces %d bytes, more than the expected %d: refused", n, d.limit())
	}
	if err := truncateTo(file, start); err != nil {
		return false, err
	}
	return start > 0, d.copy(ctx, cancel, file, response, start)
}

func (d *transfer) get(ctx context.Context, address string, have int64) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept-Encoding", "identity") // the hash is of the plain file
	if have > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
	}
	response, err := d.client.Do(request)
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // the caller names the address
	}
	return response, err
}

// startOf returns the offset in the file at which the body begins. With an
// error it is how much of the part file to keep.
func startOf(response *http.Response, have int64) (int64, error) {
	switch response.StatusCode {
	case http.StatusOK: // no range support: the whole file follows
		return 0, nil
	case http.StatusPartialContent:
		var first int64
		_, err := fmt.Sscanf(response.Header.Get("Content-Range"), "bytes %d-", &first)
		if err != nil ||
			first != have {
			return 0, &brokenError{fmt.Errorf("asked for bytes from %d, got %q", have,
				response.Header.Get("Content-Range"))}
		}
		return have, nil
	case http.StatusRequestedRangeNotSatisfiable:
		return 0, &brokenError{errors.New("the server has no bytes after those already downloaded; starting over")}
	case http.StatusNotFound, http.StatusGone:
		return have, fmt.Errorf("the server answered %s: the file no longer exists", response.Status)
	default:
		return have, fmt.Errorf("the server answered %s", response.Status)
	}
}

// truncateTo truncates the file to n bytes and seeks to its end.
func truncateTo(file *os.File, n int64) error {
	if err := file.Truncate(n); err != nil {
		return err
	}
	_, err := file.Seek(n, io.SeekStart)
	return err
}

// copy appends the body from offset start. Whatever happens, the written bytes
// are synced for the next attempt.
func (d *transfer) copy(ctx context.Context, cancel context.CancelCauseFunc, file *os.File, response *http.Response,
	start int64) error {
	total := d.entry.Bytes
	if total == 0 && response.ContentLength >= 0 {
		total = start + response.ContentLength
	}
	stalled := time.AfterFunc(stallLimit, func() { cancel(fmt.Errorf("no data for %s", stallLimit)) })
	defer stalled.Stop()
	body := &watched{from: response.Body, done: start, onRead: func(done int64) {
		stalled.Reset(stallLimit)
		if d.progress != nil {
			d.progress(done, total)
		}
	}}
	written, err := io.Copy(file, io.LimitReader(body, d.limit()-start+1))
	if body.err != nil {
		err = &brokenError{cmp.Or(context.Cause(ctx), body.err)} // why the context was cancelled says more
	}
	if err := errors.Join(err, file.Sync()); err != nil {
		return download.Full(err, filepath.Dir(d.part), total-start-written, download.OtherCache)
	}
	switch {
	case d.entry.Bytes > 0 && body.done < d.entry.Bytes:
		return &brokenError{fmt.Errorf("received %d of %d bytes", body.done, d.entry.Bytes)}
	case body.done > d.limit():
		return fmt.Errorf("%w than the expected %d bytes: refused and removed", errTooLong, d.limit())
	}
	return nil
}

// watched counts the bytes read and records a read error, to distinguish it
// from a write error.
type watched struct {
	from   io.Reader
	done   int64
	err    error
	onRead func(done int64)
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.from.Read(p)
	w.done += int64(n)
	if n > 0 {
		w.onRead(w.done)
	}
	if err != nil && err != io.EOF {
		w.err = err
	}
	return n, err
}
