package extractor

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/ort"
)

// A NonFiniteError reports that the model returned NaN or infinity for a photo.
type NonFiniteError struct {
	Backbone string
	Row      int // in this call
}

// Error names the likely causes.
func (e *NonFiniteError) Error() string {
	return fmt.Sprintf("backbone %s: row %d: the embedding is not finite: a float16 model may overflow (export as "+
		"float32), or the normalisation is not the model's own", e.Backbone, e.Row)
}

// errClosed is returned after Close.
var errClosed = errors.New("extractor is closed")

// Extract writes the embeddings of n = dst.Rows photos, 1 ≤ n ≤ Batch, into the
// rows of dst (n×d). pixels is n×3×side×side, CHW, normalised. If a row is not
// finite the error is a *NonFiniteError; all other rows are valid.
func (e *Extractor) Extract(dst blas32.General, pixels []float32) error {
	side, err := e.checkShapes(dst, len(pixels))
	if err != nil {
		return fmt.Errorf("backbone %s: %w", e.name, err)
	}
	e.running.RLock()
	defer e.running.RUnlock()
	if e.session == nil {
		return fmt.Errorf("backbone %s: %w", e.name, errClosed)
	}
	if e.plan.free {
		return e.inRuns(side, dst, pixels)
	}
	return e.run(shape{e.plan.batch, side}, dst, pixels)
}

// run embeds dst.Rows photos, at most a.rows, in one run.
func (e *Extractor) run(a shape, dst blas32.General, pixels []float32) error {
	s, err := e.take(a)
	if err != nil {
		return fmt.Errorf("backbone %s: %w", e.name, err)
	}
	defer e.slots.put(s)
	if s.reduction.channels != e.dim {
		return fmt.Errorf("backbone %s: %d numbers a photo at side %d but %d at the side it was opened with: set "+
			"extractor.pool to mean, or extractor.side", e.name, s.reduction.channels, s.side, e.dim)
	}
	s.fill(pixels, dst.Rows, e.plan.layout)
	if err := e.session.Run([]*ort.Tensor{s.in}, []*ort.Tensor{s.out}); err != nil {
		return fmt.Errorf("backbone %s: %w", e.name, err)
	}
	return e.read(s, dst)
}

// read reduces the output into dst and reports the first bad row.
func (e *Extractor) read(s *slot, dst blas32.General) error {
	var err error
	out, r := s.out.Data(), s.reduction
	for i := range dst.Rows {
		row := dst.Data[i*dst.Stride : i*dst.Stride+e.dim]
		r.apply(row, out[i*r.partLen:(i+1)*r.partLen])
		if err == nil && !dense.Finite32(row) {
			err = &NonFiniteError{Backbone: e.name, Row: i}
		}
	}
	return err
}

// checkShapes checks dst and the number of pixel values against the model and
// returns the side.
func (e *Extractor) checkShapes(dst blas32.General, values int) (int, error) {
	n := dst.Rows
	if n < 1 || n > e.Batch() {
		return 0, fmt.Errorf("%d photos in one call: not in 1…%d", n, e.Batch())
	}
	if dst.Cols != e.dim || dst.Stride < dst.Cols || len(dst.Data) < (n-1)*dst.Stride+dst.Cols {
		return 0, fmt.Errorf("destination %d×%d (stride %d, %d values): not %d×%d", dst.Rows, dst.Cols, dst.Stride,
			len(dst.Data), n, e.dim)
	}
	given := int(math.Sqrt(float64(values/(3*n))) + 0.5)
	square := given > 0 && 3*n*given*given == values
	switch side := e.plan.side; {
	case !square && side == 0:
		return 0, fmt.Errorf("%d pixel values are not %d square photos of 3 colours", values, n)
	case !square:
		return 0, fmt.Errorf("%d pixel values: expected %d×3×%d×%d = %d", values, n, side, side, 3*n*side*side)
	case side != 0 && given != side:
		return 0, fmt.Errorf("photos of side %d, but the model takes side %d: preprocess to side %d", given, side, side)
	case given > maxSide:
		return 0, fmt.Errorf("photos of side %d: more than %d", given, maxSide)
	}
	return given, nil
}
