package preprocess

import (
	"fmt"
	"sync"
)

// A Preprocessor turns image files into tensors according to a Spec. It is safe
// for concurrent use; each concurrent call has its own scratch memory, which is
// reused.
type Preprocessor struct {
	spec    Spec
	lim     Limits
	jpeg    JPEGDecoder // nil for Go's
	filter  filter
	value   [3][256]float32 // normalised value of each level, per channel
	scratch sync.Pool       // of *scratch
}

// scratch is the working memory of one call of Tensor.
type scratch struct {
	resampler      resampler
	stored, turned []byte // a full picture, before and after its orientation
}

// keepBytes is the largest full picture that scratch memory retains.
const keepBytes = 64 << 20

// New returns a Preprocessor. The error names the field of the spec or the
// limit that is out of range. A spec with a native JPEG decoder needs
// NewNative.
func New(spec Spec, lim Limits) (*Preprocessor, error) { return NewNative(spec, lim, nil) }

// NewNative is New with a native decoder for JPEG, which must be the one that
// spec.JPEG names; it is not used when spec.JPEG is empty.
func NewNative(spec Spec, lim Limits, native JPEGDecoder) (*Preprocessor, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	if err := lim.Validate(); err != nil {
		return nil, err
	}
	p := &Preprocessor{spec: spec, lim: lim, filter: filterOf(spec.Interpolation)}
	if spec.JPEG != "" {
		if native == nil || TurboJPEG(native) != spec.JPEG {
			return nil, fmt.Errorf("preprocess: %w: the spec requires libjpeg-turbo (%s)", ErrNoDecoder, spec.JPEG)
		}
		p.jpeg = native
	}
	p.scratch.New = func() any { return new(scratch) }
	for c := range p.value {
		mean, std := float32(spec.Mean[c]), float32(spec.Std[c])
		for v := range p.value[c] {
			p.value[c][v] = (float32(v)/255 - mean) / std
		}
	}
	return p, nil
}

// Spec returns the Spec of the Preprocessor.
func (p *Preprocessor) Spec() Spec { return p.spec }

// Tensor decodes an image file and writes its tensor to dst: 3·side·side
// float32 values, channel by channel (R, G, B), rows from the top. Errors
// about the file wrap one of ErrEmpty, ErrFormat, ErrTooLarge, ErrTruncated,
// ErrCorrupt; dst is then unspecified.
//
// Cost: the decoder's, plus one pass over the pixels that the crop keeps.
func (p *Preprocessor) Tensor(dst []float32, file []byte) (err error) {
	f := formatUnknown
	defer guard(&f, &err)
	if err := p.checkLength(dst); err != nil {
		return err
	}
	r, f, err := p.open(file)
	if err != nil {
		return err
	}
	s := p.scratch.Get().(*scratch)
	defer p.release(s)
	p.resample(dst, p.upright(r, file, f, s), s)
	return nil
}

// open uses the native decoder if there is one and it accepts the file.
func (p *Preprocessor) open(file []byte) (raster, format, error) {
	if m, done := p.openNative(file, p.spec.Size); done {
		return m, formatJPEG, nil
	}
	return open(file, p.lim)
}

// FromImage writes the tensor of an already decoded, upright picture to dst,
// as Tensor does.
func (p *Preprocessor) FromImage(dst []float32, img *Image) error {
	if err := p.checkLength(dst); err != nil {
		return err
	}
	if err := img.check(); err != nil {
		return err
	}
	s := p.scratch.Get().(*scratch)
	defer p.release(s)
	p.resample(dst, img, s)
	return nil
}

func (p *Preprocessor) checkLength(dst []float32) error {
	side := p.spec.Side()
	if want := 3 * side * side; len(dst) != want {
		return fmt.Errorf("preprocess: destination holds %d values: a tensor of 3×%d×%d takes %d", len(dst), side, side, want)
	}
	return nil
}

func (p *Preprocessor) release(s *scratch) {
	if cap(s.stored)+cap(s.turned) > keepBytes {
		s.stored, s.turned = nil, nil
	}
	p.scratch.Put(s)
}

// upright applies the orientation. Only this needs the full picture: Pillow's
// two passes do not commute with a rotation to the last bit.
func (p *Preprocessor) upright(r raster, file []byte, f format, s *scratch) raster {
	if !p.spec.Orientation {
		return r
	}
	o := orientation(file, f)
	if o == 1 {
		return r
	}
	img := flatten(r, s.stored)
	s.stored = img.Pix
	img = reorient(img, o, s.turned)
	s.turned = img.Pix
	return img
}

// resample resizes, crops and normalises.
func (p *Preprocessor) resample(dst []float32, r raster, s *scratch) {
	p.resampleTo(dst, r, p.spec.geometry(r.size()), s)
}

func (p *Preprocessor) resampleTo(dst []float32, r raster, g geometry, s *scratch) {
	area := g.side * g.side
	s.resampler.run(r, p.filter, g, func(y int, rgb []byte) {
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
