package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/seed-90d10d51/pipeline/internal/instance"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
	"github.com/seed-90d10d51/pipeline/teach"
)

// An Entrance is how another command of the same user finds the page.
type Entrance struct {
	// Page is its address, with the token if it asks for one.
	Page string
	// Admit takes a key that opens the page once instead of its token; nil if there is none.
	Admit func(key string)
}

const (
	beginTime = 5 * time.Second       // for another process to say where it is
	lookTime  = 20 * time.Millisecond // between two looks
)

// Found is a page that another process of the same user has.
type Found struct {
	// Page is its address, with the token if it asks for one, and Photos the folder that it shows, "" if it says none.
	Page, Photos string
	// Browser is the address to open in a browser: other users see the arguments of programs, so
	// it never has the token. It is "" if there is no such address.
	Browser string

	by string // the process
}

// String names the process.
func (f *Found) String() string { return f.by }

func found(c instance.Contact, key string) *Found {
	bare, _, token := strings.Cut(c.Page, "?token=")
	f := &Found{Page: c.Page, Photos: c.Photos, Browser: c.Page, by: c.String()}
	switch {
	case c.Tickets:
		f.Browser = bare + "?once=" + key
	case token:
		f.Browser = ""
	}
	return f
}

// find returns the page of the server that has a MODEL file open, nil if nobody has it open. It
// waits for one that is just beginning. The error wraps teach.ErrInUse if whoever has the model
// shows this user no page.
func find(ctx context.Context, file string) (*Found, error) {
	for begun := time.Now(); ; {
		c, err := teach.Control(file)
		if err == nil && c == nil {
			return nil, nil
		}
		if err == nil {
			var key string
			if key, _, err = c.Ask(ctx, ""); err == nil && c.Page != "" {
				return found(*c, key), nil
			}
			err = errors.Join(teach.Free(file), err)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if !pause(ctx) || time.Since(begun) > beginTime {
			return nil, err
		}
	}
}

// pause waits a moment, and reports whether ctx goes on.
func pause(ctx context.Context) bool {
	select {
	case <-time.After(lookTime):
		return true
	case <-ctx.Done():
		return false
	}
}

// findDesk returns the start page of this user that has left its contact in a file, if it shows
// the project in the folder dir, "" for any, or opens it now. If there is none, it returns the lock
// that a new one holds while it runs, nil if one runs that is busy with another project.
func findDesk(ctx context.Context, file, dir string) (*Found, *flock.Flock, error) {
	lock, err := regularfile.Lock(file + ".lock")
	if err != nil {
		return nil, nil, err
	}
	for begun := time.Now(); ; {
		if held, err := lock.TryLock(); held || err != nil {
			return nil, lock, err
		}
		c, err := instance.Read(file)
		if err == nil {
			var key string
			var has bool
			key, has, err = c.Ask(ctx, dir)
			switch {
			case err == nil && has:
				return found(c, key), nil, nil
			case err == nil:
				return nil, nil, nil
			}
		}
		if !pause(ctx) || time.Since(begun) > beginTime {
			return nil, nil, fmt.Errorf("a start page that runs does not answer: %w", err)
		}
	}
}

// openDoor listens on this machine for commands, until the function that it returns is called,
// which waits for what has begun. leave gets the contact and returns what answers them.
func openDoor(ctx context.Context, leave func(instance.Contact) (http.Handler, error)) (shut func(), err error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	handler, err := leave(instance.New(l.Addr().String()))
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	door := &http.Server{Handler: handler, ReadHeaderTimeout: headerTime}
	go func() { _ = door.Serve(l) }() // until Shutdown
	return func() { _ = door.Shutdown(context.WithoutCancel(ctx)) }, nil
}
