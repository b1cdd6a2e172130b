package libraries

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/download"
)

const (
	// stallLimit is how long a download may stall before it counts as broken.
	stallLimit = time.Minute
	// largestArchive is how much of an address is read.
	largestArchive = 1 << 30
)

// withoutPassword returns a source as it may be shown.
func withoutPassword(source string) string {
	u, err := url.Parse(source)
	if err == nil && u.User != nil {
		return u.Redacted()
	}
	return source
}

// address downloads an archive or a library to a temporary file, and reads that.
func (s *search) address(progress Progress) error {
	dir := s.wanted[0].Dir
	if err := prepare(dir); err != nil {
		return err
	}
	work, err := atomicfile.CreateDir(filepath.Join(dir, "download"), nil)
	if err != nil {
		return download.Full(err, dir, 0, freeSpace)
	}
	defer work.Abort()
	file := filepath.Join(work.Path(), "archive")
	name, err := s.download(file, progress)
	if err != nil {
		return err
	}
	return s.file(file, name, nil)
}

// download stores what is at the source in a file, and returns what the source calls it.
func (s *search) download(file string, progress Progress) (name string, err error) {
	ctx, cancel := context.WithCancelCause(s.ctx)
	defer cancel(nil)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.source, nil)
	if err != nil {
		return "", err
	}
	request.Header.Set("Accept-Encoding", "identity") // the archive as it is
	response, err := download.Client(nil).Do(request)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err // the caller names the address
		}
		return "", fmt.Errorf("%w; without a connection, copy the file here and give its path", err)
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode != http.StatusOK:
		return "", fmt.Errorf("the server answered %s", response.Status)
	case response.ContentLength > largestArchive:
		return "", fmt.Errorf("has %d bytes: no archive of the libraries is that large", response.ContentLength)
	}
	stalled := time.AfterFunc(stallLimit, func() { cancel(fmt.Errorf("no data for %s", stallLimit)) })
	defer stalled.Stop()
	body := &counted{ctx: ctx, from: response.Body, total: max(0, response.ContentLength),
		progress: func(done, total int64) {
			stalled.Reset(stallLimit)
			if progress != nil {
				progress(done, total)
			}
		}}
	err = save(file, io.LimitReader(body, largestArchive))
	if err != nil && ctx.Err() != nil {
		err = cmp.Or(context.Cause(ctx), err) // why it was cancelled says more
	}
	return path.Base(request.URL.Path), err
}

// save writes what is downloaded to a file.
func save(file string, content io.Reader) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = errCut
	case err != nil:
		err = download.Full(err, filepath.Dir(file), 0, freeSpace)
	}
	return cmp.Or(err, f.Close())
}
