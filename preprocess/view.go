package preprocess

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
)

// viewVersion is incremented whenever a view of any file changes.
const viewVersion = 1

// A random crop has an area of leastArea … 1 of the picture and an aspect ratio
// (log-uniform) of 1/mostRatio … mostRatio. If none of viewTries draws fits,
// the crop is the largest centred square.
const (
	leastArea = 0.25
	mostRatio = 4.0 / 3
	viewTries = 10
)

// A View makes random versions of images for training: a random crop, resized
// to the square that the network takes, and mirrored half of the time. The same
// file and number always give the same version. It is safe for concurrent use.
type View struct {
	p      *Preprocessor
	number int
}

// View returns the view with a number, 1 or more. It differs from Tensor only
// in the crop and the mirroring; decoder, filter and normalisation are the
// same.
func (p *Preprocessor) View(number int) View { return View{p, number} }

// Fingerprint is like Spec.Fingerprint, for the view.
func (v View) Fingerprint() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\nview %d\nnumber %d\n", v.p.spec.Fingerprint(), viewVersion, v.number))
	return hex.EncodeToString(sum[:])
}

// Tensor is like Preprocessor.Tensor, for the view.
func (v View) Tensor(ctx context.Context, dst []float32, file []byte) error {
	p := v.p
	if err := p.checkLength(dst); err != nil {
		return err
	}
	side := p.spec.Side()
	g := geometry{width: side, height: side, side: side}
	return p.decode(ctx, file, fullSize, p.upright(file, func(w, h int) int64 {
		return g.bytes(p.filter, w, h)
	}, func(r raster, _ plan, _ int, s *resampler) {
		p.resampleTo(dst, v.window(r, file), g, s)
	}))
}

// Tensors is like Preprocessor.Tensors, for the view: it is always one square.
func (v View) Tensors(ctx context.Context, file []byte, use func(tensor func(dst []float32) error) error) error {
	return use(func(dst []float32) error { return v.Tensor(ctx, dst, file) })
}

// window draws the crop and the mirroring from a hash of the file's content.
func (v View) window(r raster, file []byte) *window {
	sum := sha256.Sum256(file)
	rng := rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum[:]), uint64(v.number)))
	w, h := r.size()
	out := &window{inner: r, mirrored: rng.IntN(2) == 1}
	for range viewTries {
		area := (leastArea + (1-leastArea)*rng.Float64()) * float64(w) * float64(h)
		ratio := math.Exp((2*rng.Float64() - 1) * math.Log(mostRatio))
		out.w, out.h = int(math.Round(math.Sqrt(area*ratio))), int(math.Round(math.Sqrt(area/ratio)))
		if out.w >= 1 && out.h >= 1 && out.w <= w && out.h <= h {
			out.x, out.y = rng.IntN(w-out.w+1), rng.IntN(h-out.h+1)
			return out
		}
	}
	out.w, out.h = min(w, h), min(w, h)
	out.x, out.y = (w-out.w)/2, (h-out.h)/2
	return out
}

// A window shows a part of a picture, mirrored or not.
type window struct {
	inner      raster
	x, y, w, h int
	mirrored   bool
}

func (r *window) size() (width, height int) { return r.w, r.h }

func (r *window) row(dst []byte, y, x0, x1 int) {
	if !r.mirrored {
		r.inner.row(dst, r.y+y, r.x+x0, r.x+x1)
		return
	}
	right := r.x + r.w
	r.inner.row(dst, r.y+y, right-x1, right-x0)
	for i, j := 0, 3*(x1-x0-1); i < j; i, j = i+3, j-3 {
		dst[i], dst[i+1], dst[i+2], dst[j], dst[j+1], dst[j+2] = dst[j], dst[j+1], dst[j+2], dst[i], dst[i+1], dst[i+2]
	}
}
