package model

import (
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
)

// A Judgement is what a model says of one embedding.
type Judgement struct {
	classifier.Prediction
	// Unknown reports that the novelty is over a threshold.
	Unknown bool
	// New is the probability that it is of no class of the model if that is true of half of all; nil
	// if the model cannot tell.
	New *float64
}

// Judge returns what p says of every row of x (n×d), with the top most probable classes. What is more
// novel than the threshold is unknown.
func (p *Predictor) Judge(x blas32.General, top int, threshold float64) ([]Judgement, error) {
	predictions, err := classifier.Predict(p, x, top)
	if err != nil {
		return nil, err
	}
	out := make([]Judgement, len(predictions))
	for i, prediction := range predictions {
		out[i] = Judgement{Prediction: prediction, Unknown: prediction.Novelty > threshold}
		if u := p.Calibration.Unseen; u != nil {
			out[i].New = new(u.P(prediction.Novelty, 0.5))
		}
	}
	return out, nil
}

// unknownShare is the share of photos of known classes that may be called unknown where nobody says
// another.
const unknownShare = 0.05

// UsualThreshold is the novelty from which a photo is unknown where nobody says another share; +Inf
// if the model cannot tell.
func (m *Model) UsualThreshold() float64 {
	threshold, err := m.Threshold(unknownShare)
	if err != nil {
		threshold, _ = m.Threshold(0)
	}
	return threshold
}
