package teach

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/preprocess/photometa"
)

// A Photo is a file of the folder, or a box in one.
type Photo struct {
	ID ID
	// Path is below the folder of photos, as text; for a box with its number, photo.jpg#1.
	Path string
	// Box is nil for a whole photo.
	Box *dataset.Box
	// Class is what its folder names, "" for nothing.
	Class   string
	Changed time.Time
	// Copies counts other files of the same content.
	Copies int
	// Shot is what the photo says of itself, nil before somebody has looked.
	Shot *photometa.Shot
}

// File returns the path of the file below the folder, as text.
func (p Photo) File() string { return dataset.Sample{Path: p.Path, Box: p.Box}.File() }

// detected reports whether it is a box of what a detector names and nobody classifies.
func (p Photo) detected() bool { return p.Box != nil && p.Box.Kept }

// An album has the photos that are or were in the folder, and their embeddings.
type album struct {
	photos []Photo
	index  map[ID]int
	paths  map[string]int
	x      rows
}

func newAlbum(temp string, dim int) (album, error) {
	x, err := newRows(temp, dim)
	return album{index: map[ID]int{}, paths: map[string]int{}, x: x}, err
}

// here reports whether a photo is or was in the folder.
func (a *album) here(id ID) bool {
	_, ok := a.index[id]
	return ok
}

// find returns the place of a photo that is in the folder.
func (a *album) find(id ID) (at int, ok bool) {
	at, ok = a.index[id]
	return at, ok && a.photos[at].Path != ""
}

// listed returns the photos that are in the folder, with their places.
func (a *album) listed() iter.Seq2[int, Photo] {
	return func(yield func(int, Photo) bool) {
		for i, p := range a.photos {
			if p.Path != "" && !yield(i, p) {
				return
			}
		}
	}
}

// add adds photos with their embeddings.
func (a *album) add(photos []Photo, vectors [][]float32) error {
	for i, p := range photos {
		if len(vectors[i]) != a.x.Cols() {
			return fmt.Errorf("%s: its embedding has %d values, not %d", p.Path, len(vectors[i]), a.x.Cols())
		}
	}
	if err := a.write(photos, vectors); err != nil {
		return err // before anything refers to the rows
	}
	for _, p := range photos {
		if at, ok := a.paths[p.Path]; ok {
			if a.photos[at].ID == p.ID {
				continue
			}
			a.detach(p.Path)
		}
		if at, ok := a.index[p.ID]; ok {
			a.attach(at, p)
			continue
		}
		a.index[p.ID], a.paths[p.Path] = len(a.photos), len(a.photos)
		p.Copies = 0
		a.photos = append(a.photos, p)
	}
	return nil
}

// write writes the embeddings of the photos that are new, in their order.
func (a *album) write(photos []Photo, vectors [][]float32) error {
	var data []float32
	written := map[ID]bool{}
	for i, p := range photos {
		if !a.here(p.ID) && !written[p.ID] {
			written[p.ID], data = true, append(data, vectors[i]...)
		}
	}
	if len(data) == 0 {
		return nil
	}
	return a.x.Write(len(a.photos), data)
}

// attach adds another path of a photo.
func (a *album) attach(at int, p Photo) {
	a.paths[p.Path] = at
	if a.photos[at].Path == "" {
		p.Copies = 0
		a.photos[at] = p
	} else {
		a.photos[at].Copies++
	}
}

// detach removes a path; a photo without one is no longer listed.
func (a *album) detach(path string) {
	at := a.paths[path]
	delete(a.paths, path)
	p := &a.photos[at]
	if p.Path != path {
		p.Copies--
		return
	}
	p.Path = ""
	if p.Copies == 0 {
		return
	}
	p.Copies--
	for other, i := range a.paths { // rare
		if i == at && (p.Path == "" || other < p.Path) {
			p.Path = other
		}
	}
}

// remove removes files that are gone.
func (a *album) remove(paths []string) {
	for _, path := range paths {
		if _, ok := a.paths[path]; ok {
			a.detach(path)
		}
	}
}

// gather reads the embeddings of some photos.
func (a *album) gather(chosen []int) (blas32.General, error) {
	x := dense.New32(len(chosen), a.x.Cols())
	for k, i := range chosen {
		row, err := a.x.read(i, i+1, nil)
		if err != nil {
			return x, err
		}
		copy(dense.Row32(x, k), row.Data)
	}
	return x, nil
}

// folderOf returns the folder of a path, "" for the top.
func folderOf(path string) string {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i]
	}
	return ""
}

// nameOf returns the last element of a path.
func nameOf(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// Add adds photos with their embeddings. A path that is known for another content
// gets the new one.
func (s *Session) Add(photos []Photo, vectors [][]float32) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.touch()
	if err := s.add(photos, vectors); err != nil {
		return err
	}
	if errors.As(s.refit.err, new(*lackingError)) && s.supplies() {
		s.refitIfDue()
	}
	if s.live == nil {
		return nil
	}
	return s.live.extend(s.ctx, s.x, len(s.photos))
}

// Remove removes files that are gone.
func (s *Session) Remove(paths []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(paths)
	s.events.changes += len(paths)
	s.touch()
}

// PhotoOf returns a photo of the folder.
func (s *Session) PhotoOf(id ID) (Photo, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	at, ok := s.find(id)
	if !ok {
		return Photo{}, false
	}
	return s.photos[at], true
}
