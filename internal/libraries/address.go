package libraries

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/download"
)

// stallLimit is how long a download may stall before it counts as broken.
const stallLimit = time.Minute

// withoutPassword returns a source as it may be shown.
func withoutPassword(source string) string {
	if u, err := url.Parse(source); err == nil && u.User != nil {
		return u.Redacted()
	}
	return source
}

// address reads an archive or a library while it is downloaded.
func (s *search) address(progress Progress) error {
	ctx, cancel := context.WithCancelCause(s.ctx)
	defer cancel(nil)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.source, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Accept-Encoding", "identity") // the archive as it is
	response, err := download.Client(nil).Do(request)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err // the caller names the address
		}
		return fmt.Errorf("%w; without a connection, copy the file here and give its path", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the server answered %s", response.Status)
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
	err = s.content(path.Base(request.URL.Path), response.ContentLength, body)
	if err != nil && !errors.Is(err, errAllFound) && ctx.Err() != nil {
		err = cmp.Or(context.Cause(ctx), err) // why it was cancelled says more
	}
	return err
}
