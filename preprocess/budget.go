package preprocess

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

// DefaultMemory is the size of a Budget on a machine with enough memory.
const DefaultMemory = 512 << 20

// leastMemory suffices for small pictures.
const leastMemory = 1 << 20

// A Budget bounds the memory of everything that decodes images with it at the
// same time, and the bytes of their files to a quarter more. A file waits until
// its share is free, first come, first served; a file that exceeds the Budget by
// itself is refused. It is safe for concurrent use, and knows the decoders of this machine.
//
// What an image takes is estimated from its header: all that decoding it
// allocates, whether it is still in use at the end or not. Released memory
// becomes free when it has been collected, so the Budget holds for the process
// and not only for its live memory.
type Budget struct {
	bytes           int64
	files, pictures pool
	decoders        func() (*Decoders, error)
}

// NewBudget returns a Budget of a number of bytes, at least 1 MiB.
func NewBudget(bytes int64) (*Budget, error) {
	if bytes < leastMemory {
		return nil, fmt.Errorf("preprocess: a budget of %d bytes: allowed is 1MiB or more", bytes)
	}
	b := &Budget{bytes: bytes, decoders: sync.OnceValues(FindDecoders)}
	b.files.size = bytes / 4
	b.pictures.size = bytes
	for _, p := range []*pool{&b.files, &b.pictures} {
		p.free = semaphore.NewWeighted(p.size)
	}
	return b, nil
}

// DefaultBudget returns a Budget of DefaultMemory.
func DefaultBudget() *Budget {
	b, _ := NewBudget(DefaultMemory) // in range
	return b
}

// Decoders returns the libraries that decode pictures within the Budget, as FindDecoders finds them
// the first time.
func (b *Budget) Decoders() (*Decoders, error) { return b.decoders() }

// Portable makes the Budget do without libraries, and returns it.
func (b *Budget) Portable() *Budget {
	b.decoders = func() (*Decoders, error) { return &Decoders{}, nil }
	return b
}

// Bytes returns the size of the Budget.
func (b *Budget) Bytes() int64 { return b.bytes }

// File waits for the memory to read a file of n bytes. Call release when the
// file is no longer in memory; a picture may be decoded before. The error wraps
// ErrTooLarge, or is ctx's.
//
// There are no deadlocks, because only holders of a file's share wait for a
// picture's, never the other way round.
func (b *Budget) File(ctx context.Context, n int64) (release func(), err error) {
	if n > b.bytes {
		return nil, fmt.Errorf("read image: %w: the file has %s, preprocess.memory is %s; raise it or make the file "+
			"smaller", ErrTooLarge, mebibytes(n), mebibytes(b.bytes))
	}
	n = min(n, b.files.size)
	if err := b.files.acquire(ctx, n); err != nil {
		return nil, err
	}
	return func() { b.files.release(n) }, nil
}

// ReadFile waits for the memory, reads a regular file and calls use. Errors of
// reading are *fs.PathError; anything else that has the name, such as a pipe or a
// device, is regularfile.ErrNotRegular.
func (b *Budget) ReadFile(ctx context.Context, path string, use func(file []byte) error) error {
	f, size, err := regularfile.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	release, err := b.File(ctx, size)
	if err != nil {
		return err
	}
	defer release()
	file, err := regularfile.ReadAll(f, size)
	if err != nil {
		return err
	}
	return use(file)
}

// picture calls decode when the memory that p takes is free.
func (b *Budget) picture(ctx context.Context, p plan, file []byte, decode func() error) error {
	n := p.bytes + max(0, int64(len(file))-b.files.size) // what File did not count
	if n > b.pictures.size {
		return b.tooLarge(p.format, p.width, p.height, n)
	}
	if err := b.pictures.acquire(ctx, n); err != nil {
		return err
	}
	defer b.pictures.release(n)
	return decode()
}

// longestSide is the most pixels that a side of a picture may have. A row costs
// time however short it is, which the Budget does not count.
const longestSide = 1_000_000

// checkSize is the first check of a header. One byte per pixel is the least
// that any picture counts, which bounds the time too, and keeps the estimates
// from overflowing.
func (b *Budget) checkSize(f format, width, height int) error {
	if width < 1 || height < 1 {
		return fmt.Errorf("decode %s: %w: the header says %d×%d pixels", f, ErrCorrupt, width, height)
	}
	if err := b.checkArea(f, width, height); err != nil {
		return err
	}
	if max(width, height) > longestSide {
		return fmt.Errorf("decode %s: %w: it has %d×%d pixels, and a side may have %d; cut the picture into parts",
			f, ErrTooLarge, width, height, longestSide)
	}
	return nil
}

func (b *Budget) checkArea(f format, width, height int) error {
	if int64(width) > b.pictures.size/int64(height) {
		return b.tooLarge(f, width, height, int64(width)*int64(height))
	}
	return nil
}

func (b *Budget) tooLarge(f format, width, height int, n int64) error {
	return fmt.Errorf("decode %s: %w: it takes %s of memory (%d×%d pixels), preprocess.memory is %s; raise it or "+
		"scale the picture down",
		f, ErrTooLarge, mebibytes(n), width, height, mebibytes(b.bytes))
}

func mebibytes(n int64) string { return fmt.Sprintf("%dMiB", (n+1<<20-1)>>20) }

// A pool is memory that is lent in shares.
type pool struct {
	size int64
	free *semaphore.Weighted

	mu      sync.Mutex
	garbage int64 // released, but perhaps not collected
	waiting int
}

// acquire waits for n bytes, at most p.size.
func (p *pool) acquire(ctx context.Context, n int64) error {
	if p.free.TryAcquire(n) {
		return nil
	}
	p.wait(1)
	defer p.wait(-1)
	p.collect()
	return p.free.Acquire(ctx, n)
}

func (p *pool) wait(change int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting += change
}

func (p *pool) release(n int64) {
	p.mu.Lock()
	p.garbage += n
	wanted := p.waiting > 0
	p.mu.Unlock()
	if wanted {
		p.collect()
	}
}

// collect frees what was released before the call. FreeOSMemory, because large
// pictures leave holes that others do not fit.
func (p *pool) collect() {
	p.mu.Lock()
	n := p.garbage
	p.garbage = 0
	p.mu.Unlock()
	if n > 0 {
		debug.FreeOSMemory()
		p.free.Release(n)
	}
}

var errNoBudget = errors.New("preprocess: no memory budget")
