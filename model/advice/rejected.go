package advice

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/model"
)

// Rejected says of which photos a share is turned away, if photos of another
// occasion differ; "" if not, or if nothing is rejected.
func Rejected(m *model.Model, share float64) string {
	c := m.Predictor.Calibration
	threshold, err := m.Threshold(share)
	if err != nil || share == 0 {
		return ""
	}
	if other, ok := c.Novelty.Elsewhere(threshold); ok {
		return fmt.Sprintf("reject=%g turns away about %.2g %% of the photos that are like those learned, and of "+
			"those of another occasion %.2g %% or more", share, 100*share, 100*max(share, other))
	}
	if c.Once {
		return fmt.Sprintf("reject=%g is for photos like those learned; how many of another occasion it turns away "+
			"cannot be known", share)
	}
	return ""
}

// New says how rough p_new is, "" where nothing is known against it.
func New(m *model.Model) string {
	c := m.Predictor.Calibration
	if c.Unseen == nil || !c.Once && c.Elsewhere == 0 {
		return ""
	}
	return "p_new is for photos like those learned; of another occasion it is rough, up to 15 points off"
}
