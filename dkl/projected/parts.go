package projected

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/episodes"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
	"github.com/seed-90d10d51/pipeline/internal/onnx"
)

// Parts implements classifier.Wrapper.
func (h *Head) Parts() []any {
	parts := []any{unfitter{h}, backendUser{h}}
	if v, ok := classifier.As[classifier.Varier](h.head); ok {
		parts = append(parts, varier{h, v})
	}
	if f, ok := classifier.As[classifier.SampleForgetter](h.head); ok {
		parts = append(parts, sampleForgetter{h, f})
	}
	if s, ok := classifier.As[classifier.Saver](h.head); ok {
		parts = append(parts, saver{h, s})
	}
	if e, ok := classifier.As[classifier.Exporter](h.head); ok {
		parts = append(parts, exporter{h, e})
	}
	return parts
}

type varier struct {
	h    *Head
	head classifier.Varier
}

// Variance implements classifier.Varier.
func (v varier) Variance(dst []float64, x blas32.General) error {
	z, err := v.h.rows(x)
	if err != nil {
		return fmt.Errorf("dkl: %w", err)
	}
	return v.head.Variance(dst, z)
}

type sampleForgetter struct {
	h    *Head
	head classifier.SampleForgetter
}

// ForgetSamples implements classifier.SampleForgetter.
func (f sampleForgetter) ForgetSamples(x blas32.General, y []string) error {
	z, err := f.h.rows(x)
	if err != nil {
		return fmt.Errorf("dkl: %w", err)
	}
	return f.head.ForgetSamples(z, y)
}

type backendUser struct{ h *Head }

// UseBackend implements classifier.BackendUser.
func (u backendUser) UseBackend(m linalg.Backend) {
	u.h.use(m)
	classifier.UseBackend(u.h.head, m)
}

type unfitter struct{ h *Head }

// Unfitted implements episodes.Unfitter: heads behind the projection as it is,
// which they do not train.
func (u unfitter) Unfitted() (classifier.Learner, error) {
	head, err := u.h.unfitted()
	if err != nil {
		return nil, err
	}
	out := *u.h
	out.head = head
	out.fixed = out.projection != nil
	return &out, nil
}

type exporter struct {
	h    *Head
	head classifier.Exporter
}

// Export implements classifier.Exporter.
func (e exporter) Export(g *onnx.Graph, x string) (string, error) {
	if len(e.h.head.Classes()) == 0 {
		return "", fmt.Errorf("dkl: export: %w", classifier.ErrNotFitted)
	}
	return e.head.Export(g, e.h.projection.Graph(g, x))
}

var (
	_ classifier.Varier          = varier{}
	_ classifier.SampleForgetter = sampleForgetter{}
	_ classifier.BackendUser     = backendUser{}
	_ classifier.Saver           = saver{}
	_ classifier.Exporter        = exporter{}
	_ episodes.Unfitter          = unfitter{}
)
