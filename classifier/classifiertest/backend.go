package classifiertest

import (
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/linalg"
	"github.com/seed-90d10d51/pipeline/linalg/native/nativetest"
)

// RunOnEachBackend is Run for heads that multiply with gonum, ONNX Runtime and
// OpenBLAS, if these are installed.
func RunOnEachBackend(t *testing.T, f Factory) {
	nativetest.Each(t, func(t *testing.T, m linalg.Backend) {
		on := f
		on.New = func() (classifier.Learner, error) { return with(m, f.New) }
		on.Load = func(s classifier.State) (classifier.Learner, error) {
			return with(m, func() (classifier.Learner, error) { return f.Load(s) })
		}
		Run(t, on)
	})
}

// with returns a factory of heads that multiply with m.
func with(m linalg.Backend, make func() (classifier.Learner, error)) (classifier.Learner, error) {
	h, err := make()
	if err != nil {
		return nil, err
	}
	classifier.UseBackend(h, m)
	return h, nil
}
