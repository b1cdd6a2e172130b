package holdout

import (
	"cmp"
	"slices"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// occasion is the longest time between two photos of one occasion that follow each other:
// what studies with camera traps mostly take for two visits of an animal.
const occasion = 30 * time.Minute

// Taken says when a photo was taken, and by which camera. The zero Taken is of a photo that
// does not tell.
type Taken struct {
	// Camera is a number of its own for each camera.
	Camera int64
	// Unix is the time in seconds by the camera's clock; never 0 if it is known.
	Unix int64
}

// Told returns taken, or nil if none of the photos tells.
func Told(taken []Taken) []Taken {
	if slices.ContainsFunc(taken, func(t Taken) bool { return t.Unix != 0 }) {
		return taken
	}
	return nil
}

// Occasions returns the occasion of each photo, numbered from 0 in the order in which they
// first occur: one camera took the photos one after the other, at most half an hour apart. A
// photo that does not tell is one of its own. O(n log n).
func Occasions(taken []Taken) []int {
	known := slices.DeleteFunc(dense.Range(0, len(taken)), func(i int) bool { return taken[i].Unix == 0 })
	slices.SortStableFunc(known, func(i, j int) int {
		return cmp.Or(cmp.Compare(taken[i].Camera, taken[j].Camera), cmp.Compare(taken[i].Unix, taken[j].Unix))
	})
	first := dense.Range(0, len(taken)) // photo of its occasion, in time
	for at, i := range known {
		if at > 0 && taken[i].follows(taken[known[at-1]]) {
			first[i] = first[known[at-1]]
		}
	}
	return numbered(first)
}

// follows reports whether a photo is of the occasion of one that was not taken after it. Times
// of a damaged model may be so far apart that their difference overflows.
func (t Taken) follows(before Taken) bool {
	gap := t.Unix - before.Unix
	return t.Camera == before.Camera && gap >= 0 && gap <= int64(occasion/time.Second)
}

// Once reports whether all of several photos are known to be of one occasion.
func Once(taken []Taken) bool {
	return len(taken) > 1 && count(Occasions(taken)) == 1
}
