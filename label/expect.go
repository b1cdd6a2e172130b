package label

import "github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"

// An Expectation is the share of the labels of a folder that is right, if its photos are of
// known classes (calibration.Folder).
type Expectation struct {
	// Accuracy is the share, 0 to 1, and Low and High where it lies in 19 of 20 folders.
	Accuracy number `json:"accuracy"`
	Low      number `json:"low"`
	High     number `json:"high"`
	// Labels is the number of labels, without the photos that were rejected.
	Labels int `json:"labels"`
}

// expect returns nil if the probabilities were not fitted to held-out examples.
func expect(f calibration.Folder) *Expectation {
	share, low, high, ok := f.Expect()
	if !ok {
		return nil
	}
	return &Expectation{number(share), number(low), number(high), f.N}
}
