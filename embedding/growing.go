package embedding

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/seed-90d10d51/pipeline/embedding/cache"
)

// ErrGrowing means that a photo is not whole and was changed a moment ago: it is probably being copied.
var ErrGrowing = errors.New("the photo is still being written")

// errAgain means that a file has changed since it was read, and is to be read again.
var errAgain = errors.New("read again")

const (
	// quiet is how long a file stays as it is before it is taken for complete.
	quiet = 2 * time.Second
	// patience bounds the waiting for one file.
	patience = time.Minute
)

// A patient decides what becomes of photos that are not whole.
type patient struct {
	leave bool // for later, instead of waiting
	now   func() time.Time
	sleep func(ctx context.Context, d time.Duration) error
}

// young reports whether a file has been changed so recently that more may come.
func (p *patient) young(state cache.FileState) bool {
	if p == nil {
		return false
	}
	age := p.now().Sub(state.Changed())
	return age >= 0 && age < quiet
}

// judge returns errAgain for a file that has changed, after waiting until it stays as it is, or ErrGrowing without;
// otherwise the error that reading it gave, which is nil where only its end is missing.
func (p *patient) judge(ctx context.Context, file string, state cache.FileState, err error) error {
	if !p.young(state) {
		return err
	}
	if p.leave {
		return ErrGrowing
	}
	was := state
	for begun := p.now(); p.young(state) && p.now().Sub(begun) < patience; {
		err := p.sleep(ctx, state.Changed().Add(quiet).Sub(p.now()))
		var gone error
		state, gone = cache.Stat(file)
		if failed := cmp.Or(err, gone); failed != nil {
			return failed
		}
	}
	if state != was {
		return errAgain
	}
	return err
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
