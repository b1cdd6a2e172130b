package preprocess

import (
	"context"
	"fmt"
	"sync"
)

// A Preprocessor turns image files into tensors according to a Spec. It is safe
// for concurrent use; each concurrent call has its own scratch memory, which is
// reused.
type Preprocessor struct {
	spec    Spec
	budget  *Budget
	filter  filter
	value   [3][256]float32 // normalised value of each level, per channel
	scratch sync.Pool       // of *resampler, the working memory of one call of Tensor
}

// keepBytes is the most scratch memory that is kept for the next picture.
const keepBytes = 4 << 20

// New returns a Preprocessor that decodes within a Budget, which others may
// share, by the Budget's decoders. The error names the field of the spec that is out of range, or
// wraps ErrNoDecoder if the spec names other decoders.
func New(spec Spec, b *Budget) (*Preprocessor, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	if b == nil {
		return nil, errNoBudget
	}
	here := machine(b).Name()
	if spec.Decoder != "" && spec.Decoder != here {
		return nil, fmt.Errorf("preprocess: %w: the spec requires %s, not %s", ErrNoDecoder, spec.DecodedBy(),
			Spec{Decoder: here}.DecodedBy())
	}
	spec.Decoder = here
	p := &Preprocessor{spec: spec, budget: b, filter: filterOf(spec.Interpolation)}
	p.scratch.New = func() any { return new(resampler) }
	for c := range p.value {
		mean, std := float32(spec.Mean[c]), float32(spec.Std[c])
		for v := range p.value[c] {
			p.value[c][v] = (float32(v)/255 - mean) / std
		}
	}
	return p, nil
}

// Spec returns the Spec of the Preprocessor, with its decoders.
func (p *Preprocessor) Spec() Spec { return p.spec }

// Tensor decodes an image file and writes its tensor to dst: 3·side·side
// float32 values, channel by channel (R, G, B), rows from the top. It first
// waits until the Budget has the memory. Errors about the file wrap one of
// ErrEmpty, ErrFormat, ErrTooLarge, ErrTruncated, ErrCorrupt; dst is then
// unspecified. If ctx ends while it waits, the error is ctx's. Of several squares
// (Tensors) it is the first.
//
// Cost: the decoder's, plus one pass over the pixels that the crop keeps.
func (p *Preprocessor) Tensor(ctx context.Context, dst []float32, file []byte) error {
	if err := p.checkLength(dst); err != nil {
		return err
	}
	first := true
	return p.Tensors(ctx, file, func(tensor func(dst []float32) error) error {
		if !first {
			return nil
		}
		first = false
		return tensor(dst)
	})
}

// A consumer uses a decoded picture.
type consumer struct {
	purpose
	bytes func(p plan) int64 // what use allocates
	use   func(r raster, f format)
}

// decode decodes a file for a resize of the shorter side to size.
func (p *Preprocessor) decode(ctx context.Context, file []byte, size int, c consumer) error {
	c.size = size
	return decode(ctx, file, p.budget, c)
}

// upright returns a consumer that applies the orientation of a file before it
// uses the picture, as planned. Only a rotation needs the full picture: Pillow's two passes
// do not commute with it to the last bit.
func (p *Preprocessor) upright(file []byte, bytes func(width, height int) int64,
	use func(r raster, n plan, orientation int, s *resampler)) consumer {
	o, need, side := 1, int64(0), 0
	if p.spec.HEIFThumbnail {
		side = p.spec.Size
	}
	var planned plan
	return consumer{
		purpose: purpose{side: side},
		bytes: func(n plan) int64 {
			planned = n
			w, h := n.size()
			need = bytes(w, h)
			turned := int64(0)
			if p.spec.Orientation {
				o = orientation(file, n.format)
			}
			if o != 1 {
				need = max(need, bytes(h, w))
				turned = uprightBytes(w, h)
			}
			return need + turned
		},
		use: func(r raster, _ format) {
			if o != 1 {
				r = upright(r, o)
			}
			s := p.scratch.Get().(*resampler)
			use(r, planned, o, s)
			if need <= keepBytes {
				p.scratch.Put(s)
			}
		},
	}
}

// fromImage writes the tensor of an already decoded, upright picture to dst,
// as Tensor does.
func (p *Preprocessor) fromImage(dst []float32, img *Image) error {
	if err := p.checkLength(dst); err != nil {
		return err
	}
	if err := img.check(); err != nil {
		return err
	}
	s := p.scratch.Get().(*resampler)
	defer p.scratch.Put(s)
	return p.show(dst, img, p.spec.geometry(img.size()), s)
}

func (p *Preprocessor) checkLength(dst []float32) error {
	side := p.spec.Side()
	if want := 3 * side * side; len(dst) != want {
		return fmt.Errorf("preprocess: destination holds %d values: a tensor of 3×%d×%d takes %d", len(dst), side, side,
			want)
	}
	return nil
}

func (p *Preprocessor) resampleTo(dst []float32, r raster, g geometry, s *resampler) {
	area := g.side * g.side
	s.run(r, p.filter, g, func(y int, rgb []byte) {
		at := y * g.side
		p.normalise(dst[at:][:g.side], dst[area+at:][:g.side], dst[2*area+at:][:g.side], rgb)
	})
}

func (p *Preprocessor) normalise(red, green, blue []float32, rgb []byte) {
	green, blue = green[:len(red)], blue[:len(red)]
	for x := range red {
		v := rgb[3*x : 3*x+3 : 3*x+3]
		red[x] = p.value[0][v[0]]
		green[x] = p.value[1][v[1]]
		blue[x] = p.value[2][v[2]]
	}
}
