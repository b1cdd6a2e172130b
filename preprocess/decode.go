package preprocess

import (
	"context"
	"fmt"
	"io"
)

// An Image is an 8-bit RGB picture, rows tightly packed from the top:
// channel c of pixel (x, y) is Pix[3*(y*Width+x)+c].
type Image struct {
	Width, Height int
	Pix           []byte
}

func (m *Image) size() (width, height int) { return m.Width, m.Height }

func (m *Image) row(dst []byte, y, x0, x1 int) {
	copy(dst, m.Pix[3*(y*m.Width+x0):3*(y*m.Width+x1)])
}

func (m *Image) check() error {
	if m.Width < 1 || m.Height < 1 || len(m.Pix)/3/m.Width != m.Height || len(m.Pix)%(3*m.Width) != 0 {
		return fmt.Errorf("preprocess: image of %d×%d pixels with %d bytes: it takes 3·width·height", m.Width, m.Height,
			len(m.Pix))
	}
	return nil
}

// Decode returns the picture of an image file as 8-bit RGB, equal to Pillow's
// (the package comment describes how closely, and the treatment of alpha and 16
// bits). With orient it applies the EXIF orientation. It waits until b has the
// memory to decode; the returned picture is no longer counted. The error wraps
// one of ErrEmpty, ErrFormat, ErrTooLarge, ErrTruncated, ErrCorrupt, or is
// ctx's.
func Decode(ctx context.Context, file []byte, b *Budget, orient bool) (img *Image, err error) {
	err = decode(ctx, file, b, consumer{
		purpose: purpose{size: fullSize},
		bytes:   func(p plan) int64 { return uprightBytes(p.size()) },
		use: func(r raster, f format) {
			o := 1
			if orient {
				o = orientation(file, f)
			}
			img = upright(r, o)
		},
	})
	return img, err
}

// machine returns the decoders of a Budget.
func machine(b *Budget) *Decoders {
	d, _ := b.Decoders() // those that can be used
	return d
}

// decode decodes a file and uses the picture.
func decode(ctx context.Context, file []byte, b *Budget, c consumer) error {
	if err := checkFile(file, b); err != nil {
		return err
	}
	p, err := planFile(file, b, c.purpose)
	if err != nil {
		return err
	}
	p.bytes += c.bytes(p)
	return b.picture(ctx, p, file, func() error { return p.run(ctx, c.use) })
}

func checkFile(file []byte, b *Budget) error {
	if b == nil {
		return errNoBudget
	}
	if len(file) == 0 {
		return fmt.Errorf("read image: %w (0 bytes)", ErrEmpty)
	}
	return nil
}

// run decodes the picture and uses it.
func (p plan) run(ctx context.Context, use func(r raster, f format)) (err error) {
	defer guard(&p.format, &err)
	r, err := p.open(ctx)
	if err == nil {
		use(stoppable{r, ctx}, p.format)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return decodeError(p.format, err)
	}
	return nil
}

// A stoppable raster has no more rows once the context has ended, so that what turns,
// resizes or averages them soon comes to its end; the result is then not used.
type stoppable struct {
	raster
	ctx context.Context
}

func (s stoppable) row(dst []byte, y, x0, x1 int) {
	if s.ctx.Err() == nil {
		s.raster.row(dst, y, x0, x1)
	}
}

// interruptible returns a reader that fails when the context has ended, which
// stops the decoder that reads from it.
func interruptible(ctx context.Context, r io.Reader) io.Reader { return interruptibleReader{ctx, r} }

type interruptibleReader struct {
	ctx context.Context
	r   io.Reader
}

func (i interruptibleReader) Read(b []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	return i.r.Read(b)
}

// grow returns a slice of length n, reusing buf if it is big enough.
func grow[T any](buf []T, n int) []T {
	if cap(buf) < n {
		return make([]T, n)
	}
	return buf[:n]
}
