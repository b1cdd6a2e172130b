//go:build !amd64

package preprocess

// No vector instructions: the resampler handles two samples at a time.

func (t *taps) filterVectors(_, _, _, _ []byte) bool { return false }

func combineVectors(_, _ []byte, _ []int, _ []int64) bool { return false }
