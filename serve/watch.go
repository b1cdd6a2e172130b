package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/seed-90d10d51/pipeline/dataset"
	pixels "github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/embedding/cache"
	"github.com/seed-90d10d51/pipeline/teach"
)

// Photos are given to the session in parts, between which the server looks for new ones. The first
// is small, so that there is something to see at once, and so are those that take long.
const (
	firstPart = 16
	leastPart = 4
	mostPart  = 64
	partTime  = time.Second
)

// patience is how much longer than a look the server waits for the next one.
const patience = 20

// watch looks into the folder, again and again, and reads what is new, until ctx ends. When it
// looks again follows from what a look costs, which opens no photo, and not from what reading costs.
func (s *Server) watch(ctx context.Context) {
	f := folder{Server: s, known: map[string]cache.FileState{}, size: firstPart}
	due := time.NewTimer(0)
	defer due.Stop()
	for {
		var asked chan struct{}
		if len(f.fresh) > 0 {
			select {
			case <-due.C:
			case asked = <-s.looks:
			default:
				f.read(ctx)
				if ctx.Err() != nil {
					return
				}
				continue
			}
		} else {
			select {
			case <-due.C:
			case asked = <-s.looks:
			case <-ctx.Done():
				return
			}
		}
		due.Reset(f.visit(ctx))
		if asked != nil {
			close(asked)
		}
	}
}

// lookAgain looks into the folder at once, and answers when what is in it is known.
func (s *Server) lookAgain(w http.ResponseWriter, r *http.Request) error {
	done := make(chan struct{})
	select {
	case s.looks <- done:
	case <-r.Context().Done():
		return r.Context().Err()
	}
	select {
	case <-done:
	case <-r.Context().Done():
		return r.Context().Err()
	}
	return s.status(w, r)
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
	known  map[string]cache.FileState // of what was read, by path
	found  int                        // photos at the last look
	fresh  []dataset.Sample           // that are to be read, in this order
	states map[string]cache.FileState
	size   int   // of the next part
	err    error // of the last part
}

// visit finds what is new in the folder, and returns when to look again.
func (f *folder) visit(ctx context.Context) (next time.Duration) {
	begun := time.Now()
	err := f.list(ctx)
	if ctx.Err() == nil {
		f.reached(cmp.Or(err, f.err))
	}
	return max(f.Rescan, patience*time.Since(begun))
}

// list compares the folder with what is known of it. What nobody has waited for yet is read first:
// somebody has just put it there.
func (f *folder) list(ctx context.Context) error {
	samples, err := f.Scan(ctx)
	if err != nil && !errors.Is(err, dataset.ErrNoImages) {
		return err
	}
	if len(samples) == 0 && len(f.known) > 0 {
		if err := f.mounted(ctx); err != nil {
			return err
		}
	}
	there, waiting := make(map[string]bool, len(samples)), make(map[string]bool, len(f.fresh))
	for _, sample := range f.fresh {
		waiting[sample.File()] = true
	}
	states := map[string]cache.FileState{}
	var fresh, old []dataset.Sample
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
			continue // it vanished, or the next look finds it
		}
		if was, ok := f.known[sample.Path]; ok && was == state {
			continue
		}
		states[sample.Path] = state
		if waiting[file] {
			old = append(old, sample)
		} else {
			fresh = append(fresh, sample)
		}
	}
	f.drop(there)
	f.found, f.fresh, f.states = len(there), append(fresh, old...), states
	if len(f.fresh) == 0 {
		f.err = nil
	}
	f.say()
	return nil
}

// read reads the next part of what is new. What could not be taken is new at the next look.
func (f *folder) read(ctx context.Context) {
	n, begun := wholePhotos(f.fresh, f.size), time.Now()
	f.err = f.add(ctx, f.fresh[:n])
	if ctx.Err() != nil {
		return
	}
	if f.fresh = f.fresh[n:]; f.err != nil {
		f.fresh = nil
	}
	if f.size = min(2*f.size, mostPart); time.Since(begun) > partTime {
		f.size = max(f.size/4, leastPart)
	}
	f.say()
	f.reached(f.err)
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

func (f *folder) say() {
	f.Session.Found(teach.PhotoCounts{Found: f.found, Failed: f.unreadable.count(), Scanning: len(f.fresh) > 0})
}

// drop forgets files that are gone.
func (f *folder) drop(there map[string]bool) {
	var gone []string
	for path := range f.known {
		if !there[path] {
			gone = append(gone, dataset.EscapePath(path))
			delete(f.known, path)
			f.unreadable.set(path, nil)
		}
	}
	if len(gone) > 0 {
		slices.Sort(gone)
		f.Session.Remove(gone)
	}
}

// add embeds files and gives them to the session.
func (f *folder) add(ctx context.Context, samples []dataset.Sample) error {
	var photos []teach.Photo
	var vectors [][]float32
	unreadable := map[string]error{}
	growing := map[string]bool{} // not known until they are whole
	_, err := f.Embedder.EmbedSeq(ctx, f.Root, slices.Values(samples), func(item pixels.Item) error {
		path := item.Sample.Path
		if errors.Is(item.Err, pixels.ErrGrowing) {
			growing[path] = true
			return nil
		}
		if item.Err != nil {
			unreadable[path] = item.Err
			f.Log.Warn("a file could not be read as a photo", "file", dataset.EscapePath(path), "reason", item.Err)
			return nil
		}
		photos = append(photos, teach.Photo{
			ID: teach.ID(item.Hash), Path: dataset.EscapePath(path), Box: item.Sample.Box,
			Class: dataset.EscapePath(item.Sample.Label), Changed: time.Unix(0, f.states[path].MtimeNs),
		})
		vectors = append(vectors, item.Vector)
		return nil
	})
	if err == nil {
		err = f.Session.Add(photos, vectors)
	}
	if err != nil {
		return err
	}
	for _, sample := range samples {
		if growing[sample.Path] {
			continue
		}
		f.known[sample.Path] = f.states[sample.Path]
		f.unreadable.set(sample.Path, unreadable[sample.Path])
	}
	f.wake()
	return nil
}
