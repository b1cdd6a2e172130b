package model

import (
	"context"
	"fmt"

	"github.com/seed-90d10d51/pipeline/classifier"
)

// Amend makes only the head forget some examples and learn others, of which b.Content
// is not read. The temperature, the thresholds and the history stay, so that the
// model can score but should not be saved. It is for heads that forget single
// examples; other errors wrap classifier.ErrUnsupported. After an error the head may
// have forgotten without learning.
func (m *Model) Amend(ctx context.Context, gone, learned Batch) error {
	f, ok := m.Predictor.Head.(classifier.SampleForgetter)
	if !ok {
		return fmt.Errorf("%s cannot forget single samples: %w", m.Method, classifier.ErrUnsupported)
	}
	if len(gone.Labels) > 0 {
		z, err := m.Predictor.project(gone.X)
		if err == nil {
			err = f.ForgetSamples(z, gone.Labels)
		}
		if err != nil {
			return err
		}
	}
	if len(learned.Labels) == 0 {
		return nil
	}
	z, err := m.Predictor.project(learned.X)
	if err != nil {
		return err
	}
	return m.Predictor.Head.Learn(ctx, z, learned.Labels)
}
