package teach

import (
	"math"
	"time"

	"github.com/seed-90d10d51/pipeline/preprocess/photometa"
)

// taken returns when photo i was taken, as the clock of its camera showed it; the zero time
// if that is not known.
func (a *album) taken(i int) time.Time {
	if shot := a.photos[i].Shot; shot != nil && !shot.Time.IsZero() {
		return shot.Clock()
	}
	return time.Time{}
}

// Unseen returns at most limit photos of the folder into which nobody has looked for when
// and where they were taken.
func (s *Session) Unseen(limit int) (photos []Photo) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, p := range s.listed() {
		if len(photos) == limit {
			break
		}
		if p.Shot == nil {
			photos = append(photos, p)
		}
	}
	return photos
}

// Saw sets what photos say of themselves.
func (s *Session) Saw(shots map[ID]photometa.Shot) {
	s.mu.Lock()
	for id, shot := range shots {
		if at, ok := s.index[id]; ok {
			s.photos[at].Shot = &shot
		}
	}
	s.events.changes += len(shots)
	s.touch()
	s.mu.Unlock()
	s.options.Changed("status")
}

// timed reports whether a query asks when photos were taken.
func (q Query) timed() bool { return q.ByTime || !q.TakenSince.IsZero() || !q.TakenUntil.IsZero() }

// within reports whether a time is in the range of a query. Without a range any is, also one
// that is not known.
func (q Query) within(taken time.Time) bool {
	switch {
	case q.TakenSince.IsZero() && q.TakenUntil.IsZero():
		return true
	case taken.IsZero(), taken.Before(q.TakenSince):
		return false
	}
	return q.TakenUntil.IsZero() || taken.Before(q.TakenUntil)
}

// timeKey returns by what photos are sorted in the order of time: those without one are last.
func timeKey(taken time.Time) float64 {
	if taken.IsZero() {
		return math.Inf(1)
	}
	return float64(taken.UnixMicro())
}
