package calibration

import "math"

// FolderError is the standard error of a mean of calibrated probabilities over a folder of
// another occasion: the root mean square of 22 folders (docs/results/promises.md).
const FolderError = 0.05

// A Folder sums the probabilities of labels, whose mean is the share of them that is right
// if the photos are of known classes. Unlike the accuracy of held-out examples it knows the
// photos that it speaks about.
type Folder struct {
	N             int
	sum, variance float64 // of p, of p(1−p)
}

// Add adds the probability of a label.
func (f *Folder) Add(p float64) {
	f.N++
	f.sum += p
	f.variance += p * (1 - p)
}

// Expect returns the share of right labels, and where it lies in 19 of 20 folders. It is
// false if the probabilities were not fitted to held-out examples.
func (f *Folder) Expect(c Calibration) (share, low, high float64, ok bool) {
	if f.N == 0 || c.Samples == 0 || c.Source == Simulated {
		return 0, 0, 0, false
	}
	n, mean, a := float64(f.N), f.sum/float64(f.N), c.Accuracy
	if c.Elsewhere > 0 {
		a = c.Elsewhere
	}
	// The labels are right by chance, T was fitted to so many examples, and the folder is
	// another one than these.
	spread := 1.96 * math.Sqrt(f.variance/n/n+a*(1-a)/float64(c.Samples)+FolderError*FolderError)
	return mean, max(0, mean-spread), min(1, mean+spread), true
}
