package serve

import (
	"context"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/label/events"
	"github.com/seed-90d10d51/pipeline/preprocess/photometa"
	"github.com/seed-90d10d51/pipeline/teach"
)

// seenTogether is the number of photos that are looked into before the session hears of it.
const seenTogether = 1000

// look asks photos that are new when and where they were taken, until ctx ends. It reads the
// beginning of each file, once, and keeps neither the scan nor a request waiting.
func (s *Server) look(ctx context.Context) {
	for {
		select {
		case <-s.unseen:
		case <-ctx.Done():
			return
		}
		for photos := s.Session.Unseen(seenTogether); len(photos) > 0; photos = s.Session.Unseen(seenTogether) {
			shots := make(map[teach.ID]photometa.Shot, len(photos))
			for i, p := range photos {
				if ctx.Err() != nil {
					return
				}
				if i > 0 && p.File() == photos[i-1].File() { // another box
					shots[p.ID] = shots[photos[i-1].ID]
				} else {
					shots[p.ID] = s.shotOf(p)
				}
			}
			s.Session.Saw(shots)
		}
	}
}

// shotOf returns what a photo says of itself; nothing if it cannot be read.
func (s *Server) shotOf(p teach.Photo) photometa.Shot {
	return events.ShotOf(dataset.FullPath(s.Root, dataset.UnescapePath(p.File())), "", s.FileTimes)
}

// wake lets look begin.
func (s *Server) wake() {
	select {
	case s.unseen <- struct{}{}:
	default: // it will
	}
}
