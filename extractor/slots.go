package extractor

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/seed-90d10d51/pipeline/internal/ort"
)

// A slot is the memory of one run: the input and output tensors for one side.
type slot struct {
	side      int
	in, out   *ort.Tensor
	reduction reduction
}

// slots is a pool of slots, one per concurrent call. A sync.Pool would drop
// them without freeing the library's memory.
type slots struct {
	mu     sync.Mutex
	free   []*slot
	shapes map[int][]int64 // output shape by side
}

// take returns a slot for the side; the caller puts it back.
func (e *Extractor) take(side int) (*slot, error) {
	if free := e.slots.take(side); free != nil {
		return free, nil
	}
	in, err := e.newInput(side)
	if err != nil {
		return nil, err
	}
	made, err := e.complete(side, in)
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return made, nil
}

// take returns a free slot for the side, or nil.
func (s *slots) take(side int) *slot {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.free, func(free *slot) bool { return free.side == side })
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

func (e *Extractor) complete(side int, in *ort.Tensor) (*slot, error) {
	shape, err := e.outputShape(side, in)
	if err != nil {
		return nil, err
	}
	r, err := newReduction(shape, e.plan.batch, e.plan.layout, e.cfg)
	if err != nil {
		return nil, fmt.Errorf("output %q: %w", e.plan.tensor, err)
	}
	out, err := e.rt.NewTensor(shape...)
	if err != nil {
		return nil, fmt.Errorf("output %q: %w", e.plan.tensor, err)
	}
	return &slot{side: side, in: in, out: out, reduction: r}, nil
}

func (e *Extractor) newInput(side int) (*ort.Tensor, error) {
	n, a := int64(e.plan.batch), int64(side)
	shape := []int64{n, 3, a, a}
	if e.plan.layout == LayoutNHWC {
		shape = []int64{n, a, a, 3}
	}
	if e.plan.half {
		return e.rt.NewHalfTensor(shape...)
	}
	return e.rt.NewTensor(shape...)
}

// outputShape runs the model once per side.
func (e *Extractor) outputShape(side int, in *ort.Tensor) ([]int64, error) {
	e.slots.mu.Lock()
	shape := e.slots.shapes[side]
	e.slots.mu.Unlock()
	if shape != nil {
		return shape, nil
	}
	shape, err := e.session.Shape(in)
	if err != nil {
		return nil, fmt.Errorf("running the model on %d×3×%d×%d: %w", e.plan.batch, side, side, err)
	}
	e.slots.mu.Lock()
	defer e.slots.mu.Unlock()
	e.slots.shapes[side] = shape
	return shape, nil
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
func (s *slot) fill(pixels []float32, n, batch int, layout string) {
	photo := 3 * s.side * s.side
	for i := range batch {
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
