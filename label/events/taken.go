package events

import (
	"hash/fnv"
	"path"

	"github.com/seed-90d10d51/pipeline/classifier/holdout"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// TakenOf returns when and with which camera the photos below root were taken, nil if none
// of them tells. It reads the beginning of each file.
func TakenOf(root string, samples []dataset.Sample) []holdout.Taken {
	out := make([]holdout.Taken, len(samples))
	dense.Parallel(len(samples), func(i int) {
		file := samples[i].File()
		s := ShotOf(dataset.FullPath(root, file), samples[i].Taken, false)
		if s.Time.IsZero() {
			return
		}
		camera := fnv.New64a()
		camera.Write([]byte(cameraOf(s, path.Dir(file))))
		out[i] = holdout.Taken{Camera: int64(camera.Sum64()), Unix: s.Clock().Unix()}
	})
	return holdout.Told(out)
}
