package extractor

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/seed-90d10d51/pipeline/internal/ort"
)

// A shape is that of a run: the number of photos and their side.
type shape struct{ rows, side int }

// A slot is the memory of one run: the input and output tensors for one shape.
type slot struct {
	shape
	in, out   *ort.Tensor
	reduction reduction
}

// slots is a pool of slots, one per concurrent call. A sync.Pool would drop
// them without freeing the library's memory.
type slots struct {
	mu     sync.Mutex
	free   []*slot
	shapes map[shape][]int64 // output shape by that of the input
}

// take returns a slot for the shape; the caller puts it back.
func (e *Extractor) take(a shape) (*slot, error) {
	if free := e.slots.take(a); free != nil {
		return free, nil
	}
	in, err := e.newInput(a)
	if err != nil {
		return nil, err
	}
	made, err := e.complete(a, in)
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return made, nil
}

// take returns a free slot for the shape, or nil.
func (s *slots) take(a shape) *slot {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.free, func(free *slot) bool { return free.shape == a })
	if i < 0 {
		return nil
	}
	free := s.free[i]
	s.free = slices.Delete(s.free, i, i+1)
	return free
}

func (s *slots) put(free *slot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, free)
}

func (e *Extractor) complete(a shape, in *ort.Tensor) (*slot, error) {
	dims, err := e.outputDims(a, in)
	if err != nil {
		return nil, err
	}
	r, err := newReduction(dims, a.rows, e.plan.layout, e.cfg)
	if err != nil {
		return nil, fmt.Errorf("output %q: %w", e.plan.tensor, err)
	}
	out, err := e.rt.NewTensor(dims...)
	if err != nil {
		return nil, fmt.Errorf("output %q: %w", e.plan.tensor, err)
	}
	return &slot{shape: a, in: in, out: out, reduction: r}, nil
}

func (e *Extractor) newInput(a shape) (*ort.Tensor, error) {
	n, side := int64(a.rows), int64(a.side)
	dims := []int64{n, 3, side, side}
	if e.plan.layout == LayoutNHWC {
		dims = []int64{n, side, side, 3}
	}
	if e.plan.half {
		return e.rt.NewHalfTensor(dims...)
	}
	return e.rt.NewTensor(dims...)
}

// outputDims runs the model once per shape.
func (e *Extractor) outputDims(a shape, in *ort.Tensor) ([]int64, error) {
	e.slots.mu.Lock()
	dims := e.slots.shapes[a]
	e.slots.mu.Unlock()
	if dims != nil {
		return dims, nil
	}
	dims, err := e.session.Shape(in)
	if err != nil {
		return nil, fmt.Errorf("running the model on %d×3×%d×%d: %w", a.rows, a.side, a.side, err)
	}
	e.slots.mu.Lock()
	defer e.slots.mu.Unlock()
	e.slots.shapes[a] = dims
	return dims, nil
}

// close frees the slots that are not in use.
func (s *slots) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all error
	for _, free := range s.free {
		all = errors.Join(all, free.in.Close(), free.out.Close())
	}
	s.free = nil
	return all
}

// fill writes n photos (CHW) into the input, and repeats the last one up to the
// batch size: padding with real values cannot cause NaN or slow denormals.
func (s *slot) fill(pixels []float32, n int, layout string) {
	photo := 3 * s.side * s.side
	for i := range s.rows {
		from := min(i, n-1) * photo
		s.fillPhoto(i*photo, pixels[from:from+photo], layout)
	}
}

func (s *slot) fillPhoto(at int, chw []float32, layout string) {
	half, data := s.in.Half(), s.in.Data()
	switch {
	case half == nil && layout == LayoutNCHW:
		copy(data[at:], chw)
	case half == nil:
		toHWC(chw, func(i int, v float32) { data[at+i] = v })
	case layout == LayoutNCHW:
		for i, v := range chw {
			half[at+i] = halfBits(v)
		}
	default:
		toHWC(chw, func(i int, v float32) { half[at+i] = halfBits(v) })
	}
}

// toHWC calls set with each value of a CHW photo and its index in HWC order.
func toHWC(chw []float32, set func(i int, v float32)) {
	plane := len(chw) / 3
	for c := range 3 {
		for p, v := range chw[c*plane : (c+1)*plane] {
			set(3*p+c, v)
		}
	}
}
