package events

import (
	"hash/fnv"
	"path"

	"github.com/seed-90d10d51/pipeline/classifier/holdout"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// TakenOf returns when and with which camera the photos below root were taken, nil if none
// of them tells. It reads the beginning of each file once.
func TakenOf(root string, samples []dataset.Sample) []holdout.Taken {
	out, firsts := make([]holdout.Taken, len(samples)), []int(nil) // the boxes of a photo follow each other
	for i, s := range samples {
		if i == 0 || s.File() != samples[i-1].File() || s.Taken != samples[i-1].Taken {
			firsts = append(firsts, i)
		}
	}
	dense.Parallel(len(firsts), func(k int) {
		first, end := firsts[k], len(samples)
		if k+1 < len(firsts) {
			end = firsts[k+1]
		}
		taken := takenOf(root, samples[first])
		for i := first; i < end; i++ {
			out[i] = taken
		}
	})
	return holdout.Told(out)
}

// takenOf returns the zero Taken if the photo does not tell.
func takenOf(root string, sample dataset.Sample) holdout.Taken {
	file := sample.File()
	s := ShotOf(dataset.FullPath(root, file), sample.Taken, false)
	if s.Time.IsZero() {
		return holdout.Taken{}
	}
	camera := fnv.New64a()
	camera.Write([]byte(cameraOf(s, path.Dir(file))))
	return holdout.Taken{Camera: int64(camera.Sum64()), Unix: s.Clock().Unix()}
}
