package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed-90d10d51/pipeline/dataset"
	pixels "github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/embed/cache"
	"github.com/seed-90d10d51/pipeline/teach"
)

// Photos are given to the session in parts; the first is small, so that there is
// something to see at once.
const (
	firstPart = 16
	part      = 64
)

// patience is how much longer than a scan the server waits for the next one.
const patience = 20

// watch reads the folder, and again and again what has changed in it, until ctx ends.
func (s *Server) watch(ctx context.Context) {
	f := folder{Server: s, known: map[string]cache.FileState{}, failed: map[string]bool{}}
	for {
		begun := time.Now()
		err := f.scan(ctx)
		if ctx.Err() != nil {
			return
		}
		s.reached(err)
		select {
		case <-time.After(max(s.Rescan, patience*time.Since(begun))):
		case <-ctx.Done():
			return
		}
	}
}

// reached notes whether the folder could be read, and tells the log and the pages when
// that changes. Its photos stay: the disk may come back.
func (s *Server) reached(err error) {
	was := s.unread.Load()
	switch {
	case err != nil && (was == nil || *was != err.Error()):
		s.Log.Error("the folder of photos could not be read; it is read again soon", "reason", err)
		s.unread.Store(new(err.Error()))
	case err == nil && was != nil:
		s.Log.Info("the folder of photos can be read again")
		s.unread.Store(nil)
	default:
		return
	}
	s.Changed("status")
}

// A folder is what the server knows of its files.
type folder struct {
	*Server
	known  map[string]cache.FileState // by path
	failed map[string]bool
}

// scan reads what is new in the folder.
func (f *folder) scan(ctx context.Context) error {
	samples, err := f.Scan(ctx)
	if err != nil && !errors.Is(err, dataset.ErrNoImages) {
		return err
	}
	if len(samples) == 0 && len(f.known) > 0 {
		if err := f.mounted(ctx); err != nil {
			return err
		}
	}
	there := make(map[string]bool, len(samples))
	states := map[string]cache.FileState{}
	var fresh []dataset.Sample
	var file string
	var state cache.FileState
	for _, sample := range samples {
		if err := ctx.Err(); err != nil {
			return err
		}
		there[sample.Path] = true
		if file != sample.File() { // boxes of a photo follow each other
			file = sample.File()
			state, err = cache.Stat(dataset.FullPath(f.Root, file))
		}
		if err != nil {
			continue // it vanished, or the next scan finds it
		}
		if old, ok := f.known[sample.Path]; !ok || old != state {
			fresh, states[sample.Path] = append(fresh, sample), state
		}
	}
	f.drop(there)
	if len(fresh) == 0 {
		f.say(len(there), false)
		return nil
	}
	f.say(len(there), true)
	for size := firstPart; len(fresh) > 0; size = part {
		size = wholePhotos(fresh, size)
		if err := f.add(ctx, fresh[:size], states); err != nil {
			return err
		}
		fresh = fresh[size:]
		f.say(len(there), len(fresh) > 0)
	}
	return nil
}

// mounted returns an error if nothing is left in a folder that had photos: what a disk
// leaves that is not mounted.
func (f *folder) mounted(ctx context.Context) error {
	if v, err := dataset.Glance(ctx, f.Root); err != nil || v.Photos > 0 || len(v.Folders) > 0 {
		return err
	}
	return fmt.Errorf("%s is empty, where %d photos were: is its disk mounted?", f.Root, len(f.known))
}

// wholePhotos returns how many samples to take, of about n, so that the boxes of a photo stay
// together: it is then decoded once.
func wholePhotos(samples []dataset.Sample, n int) int {
	n = min(n, len(samples))
	for n < len(samples) && samples[n].File() == samples[n-1].File() {
		n++
	}
	return n
}

func (f *folder) say(found int, scanning bool) {
	f.Session.Found(teach.PhotoCounts{Found: found, Failed: len(f.failed), Scanning: scanning})
}

// drop forgets files that are gone.
func (f *folder) drop(there map[string]bool) {
	var gone []string
	for path := range f.known {
		if !there[path] {
			gone = append(gone, dataset.EscapePath(path))
			delete(f.known, path)
			delete(f.failed, path)
		}
	}
	if len(gone) > 0 {
		slices.Sort(gone)
		f.Session.Remove(gone)
	}
}

// add embeds files and gives them to the session.
func (f *folder) add(ctx context.Context, samples []dataset.Sample, states map[string]cache.FileState) error {
	var photos []teach.Photo
	var vectors [][]float32
	_, err := f.Embedder.EmbedSeq(ctx, f.Root, slices.Values(samples), func(item pixels.Item) error {
		path := item.Sample.Path
		state := states[path]
		f.known[path] = state
		if item.Err != nil {
			f.failed[path] = true
			f.Log.Warn("a file could not be read as a photo", "file", dataset.EscapePath(path), "reason", item.Err)
			return nil
		}
		delete(f.failed, path)
		photos = append(photos, teach.Photo{
			ID: teach.ID(item.Hash), Path: dataset.EscapePath(path), Box: item.Sample.Box,
			Class: dataset.EscapePath(item.Sample.Label), Changed: time.Unix(0, state.MtimeNs),
		})
		vectors = append(vectors, item.Vector)
		return nil
	})
	if err != nil {
		return err
	}
	err = f.Session.Add(photos, vectors)
	f.wake()
	return err
}
