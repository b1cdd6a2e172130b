package teach

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// Add adds photos with their embeddings. A path that is known for another content
// gets the new one.
func (s *Session) Add(photos []Photo, vectors [][]float32) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := len(s.photos)
	var data []float32
	for i, p := range photos {
		if len(vectors[i]) != s.options.Dim {
			return fmt.Errorf("%s: its embedding has %d values, not %d", p.Path, len(vectors[i]), s.options.Dim)
		}
		if at, ok := s.paths[p.Path]; ok {
			if s.photos[at].ID == p.ID {
				continue
			}
			s.detach(p.Path)
		}
		if at, ok := s.index[p.ID]; ok {
			s.attach(at, p)
			continue
		}
		s.index[p.ID], s.paths[p.Path] = len(s.photos), len(s.photos)
		p.Copies = 0
		s.photos = append(s.photos, p)
		data = append(data, vectors[i]...)
	}
	s.touch()
	if len(data) == 0 {
		return nil
	}
	if err := s.x.write(first, data); err != nil {
		return err
	}
	if s.scores == nil {
		return nil
	}
	return s.extendScores(s.ctx, s.live, s.scores)
}

// attach adds another path of a photo.
func (s *Session) attach(at int, p Photo) {
	s.paths[p.Path] = at
	if s.photos[at].Path == "" {
		p.Copies = 0
		s.photos[at] = p
	} else {
		s.photos[at].Copies++
	}
}

// detach removes a path; a photo without one is no longer listed.
func (s *Session) detach(path string) {
	at := s.paths[path]
	delete(s.paths, path)
	p := &s.photos[at]
	if p.Path != path {
		p.Copies--
		return
	}
	p.Path = ""
	if p.Copies == 0 {
		return
	}
	p.Copies--
	for other, i := range s.paths { // rare
		if i == at && (p.Path == "" || other < p.Path) {
			p.Path = other
		}
	}
}

// Remove removes files that are gone.
func (s *Session) Remove(paths []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, path := range paths {
		if _, ok := s.paths[path]; ok {
			s.detach(path)
		}
	}
	s.touch()
}

// extendScores scores the photos that sc lacks.
func (s *Session) extendScores(ctx context.Context, l *live, sc *scores) error {
	first, last := sc.len(), len(s.photos)
	return s.scoreRange(ctx, l, sc, first, last)
}

func (s *Session) scoreRange(ctx context.Context, l *live, sc *scores, first, last int) error {
	sc.resize(last)
	err := sc.features(ctx, l, s.x, first, last)
	if err == nil {
		err = sc.score(ctx, l, s.x, first, last, dense.Range(0, len(sc.classes)), true)
	}
	return err
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

// FileOf returns the path of a photo below the folder, with its exact bytes.
func (s *Session) FileOf(id ID) (string, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	at, ok := s.index[id]
	if !ok || s.photos[at].Path == "" {
		return "", false
	}
	return dataset.UnescapePath(s.photos[at].Path), true
}

// label returns the label of photo i and who gave it; "" for none.
func (s *Session) label(i int) (string, By) {
	return s.state.label(s.photos[i].ID, s.photos[i].Class)
}
