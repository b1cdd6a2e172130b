package calibration

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// FolderError is the standard error of the share of right labels that is expected of a folder,
// beyond chance: of 36 folders (docs/results/promises.md) the root mean square was 0.059, of which
// chance has 0.035.
const FolderError = 0.05

// A Folder sums what the labels of some photos say, to expect how many are right if the photos
// show known classes. Unlike the accuracy of held-out examples it knows the photos that it
// speaks about.
type Folder struct {
	N             int
	sum, variance float64 // of p, of p(1−p)
	novelty       float64 // the sum, each as of a held-out example at the most and at the least
	held          Calibration
}

// NewFolder returns a folder without labels, of a head that was calibrated.
func NewFolder(c Calibration) Folder { return Folder{held: c} }

// Add adds the probability of a label and the novelty of its photo.
func (f *Folder) Add(p, novelty float64) {
	f.N++
	f.sum += p
	f.variance += p * (1 - p)
	if f.held.twoKinds() {
		f.novelty += max(f.held.Quantiles[0], min(novelty, f.held.Other[Quantiles-1]))
	}
}

// Expect returns the share of right labels, and where it lies in 19 of 20 folders. It is
// false if the probabilities were not fitted to held-out examples.
//
// The share is the mean of the probabilities. Where these are those of another occasion, they
// say too little of photos like those learned, by Understated, which is added in part if the
// photos are such in part (familiar).
func (f *Folder) Expect() (share, low, high float64, ok bool) {
	c := f.held
	if f.N == 0 || c.Samples == 0 || c.Source == Simulated {
		return 0, 0, 0, false
	}
	n, a := float64(f.N), c.Accuracy
	if c.Elsewhere > 0 {
		a = c.Elsewhere
	}
	share = max(0, min(1, f.sum/n+f.familiar()*c.Understated))
	// The labels are right by chance, T was fitted to so many examples, and the folder is
	// another one than these.
	spread := 1.96 * math.Sqrt(f.variance/n/n+a*(1-a)/float64(c.Samples)+FolderError*FolderError)
	return share, max(0, share-spread), min(1, share+spread), true
}

// familiar returns how many of the photos are like those learned, 0 to 1: all if their novelty
// is on average that of examples held out one at a time, and none if it is that of groups of
// like examples held out whole. A mixture of both lies between them by its shares.
func (f *Folder) familiar() float64 {
	if !f.held.twoKinds() {
		return 0
	}
	like, other := stat.Mean(f.held.Quantiles, nil), stat.Mean(f.held.Other, nil)
	if like >= other {
		return 0
	}
	return max(0, min(1, (other-f.novelty/float64(f.N))/(other-like)))
}
