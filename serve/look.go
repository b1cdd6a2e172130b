package serve

import (
	"encoding/csv"
	"errors"
	"io/fs"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strconv"

	"github.com/seed-90d10d51/pipeline/dataset"
	pixels "github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/embedding/cache"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/teach"
)

// Sides of pictures, in pixels.
const (
	thumbSide = 384
	photoSide = 2048
)

// shownOfGroup is the number of photos that the list of groups shows of each.
const shownOfGroup = 12

func (s *Server) image(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	it, ok := s.Session.Get(id)
	if !ok {
		return noPhoto(id)
	}
	if it.Shot == nil { // it has not had its turn
		it.Shot = new(s.shotOf(it.Photo))
	}
	writeJSON(w, http.StatusOK, newImage(it))
	return nil
}

func noPhoto(id teach.ID) error { return fail(http.StatusNotFound, "there is no photo %s", id) }

func (s *Server) similar(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	n, err := limit(r)
	if err != nil {
		return err
	}
	decided, err := choice(r, "decided")
	if err != nil {
		return err
	}
	near, err := s.Session.Near(r.Context(), id, decided, n)
	if err != nil {
		return err
	}
	return writeNear(w, near)
}

func (s *Server) groups(w http.ResponseWriter, r *http.Request) error {
	n, err := limit(r)
	if err != nil {
		return err
	}
	type group struct {
		ID     int     `json:"id"`
		Size   int     `json:"size"`
		Called *string `json:"called"`
		Images []image `json:"images"`
	}
	found, computing := s.Session.Groups(n, shownOfGroup)
	out := make([]group, len(found))
	for i, g := range found {
		out[i] = group{g.ID, g.Size, unlessZero(g.Called), newImages(g.Items)}
	}
	writeJSON(w, http.StatusOK,
		map[string]any{"groups": out, "computing": computing, "revision": s.Session.Status().Revision})
	return nil
}

// duplicates answers with groups of photos that are nearly the same.
func (s *Server) duplicates(w http.ResponseWriter, r *http.Request) error {
	q, err := filters(r.URL.Query())
	if err != nil {
		return err
	}
	if q.Limit, err = limit(r); err != nil {
		return err
	}
	if q.Alike, err = alike(r.URL.Query()); err != nil {
		return err
	}
	type group struct {
		Size   int     `json:"size"`
		Images []image `json:"images"`
	}
	type level struct {
		Alike  float64 `json:"alike"`
		Groups int     `json:"groups"`
		Photos int     `json:"photos"`
	}
	found, err := s.Session.Duplicates(q, shownOfGroup)
	if err != nil {
		return err
	}
	out, levels := make([]group, len(found.Groups)), make([]level, len(found.Levels))
	for i, d := range found.Groups {
		out[i] = group{d.Size, newImages(d.Items)}
	}
	for i, l := range found.Levels {
		levels[i] = level{math.Round(100*l.Alike) / 100, l.Groups, l.Photos}
	}
	writeJSON(w, http.StatusOK, map[string]any{"groups": out, "total": found.Total, "alike": q.Alike, "levels": levels,
		"computing": found.Computing, "revision": s.Session.Status().Revision})
	return nil
}

func (s *Server) classes(w http.ResponseWriter, _ *http.Request) error {
	type class struct {
		Name      string `json:"name"`
		Learned   int    `json:"learned"`
		Labelled  int    `json:"labelled"`
		Accepted  int    `json:"accepted"`
		Listed    int    `json:"listed"`
		Predicted int    `json:"predicted"`
		Detected  int    `json:"detected"`
	}
	out := []class{}
	for _, c := range s.Session.Classes() {
		out = append(out, class(c))
	}
	writeJSON(w, http.StatusOK, map[string]any{"classes": out, "revision": s.Session.Status().Revision})
	return nil
}

func (s *Server) status(w http.ResponseWriter, _ *http.Request) error {
	writeJSON(w, http.StatusOK, s.newStatus())
	return nil
}

func (s *Server) labels(w http.ResponseWriter, r *http.Request) error {
	all, err := number(r, "all", 0, 1, 0)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="labels.csv"`)
	out := csv.NewWriter(w)
	header, files := []string{"path", "label", "by"}, s.Session.Labels
	if all == 1 {
		header, files = append(header, "probability", "novelty", "rejected"), s.Session.Files
	}
	columns := len(header)
	if s.Boxed != nil {
		header = append(header, "box")
	}
	err = out.Write(header)
	for _, f := range files() { // a copy: a client that reads slowly keeps nobody waiting
		cells := []string{dataset.SafeCell(f.Path), dataset.SafeCell(f.Label), string(f.By), figure(f.Probability),
			figure(f.Novelty), strconv.FormatBool(f.Rejected)}
		if cells = cells[:columns]; f.Box != nil {
			cells = append(cells, f.Box.String())
		}
		if err == nil {
			err = out.Write(cells)
		}
	}
	if out.Flush(); err == nil {
		err = out.Error()
	}
	return err
}

// copies answers with the files that were set aside as copies, and the one that is kept of each.
func (s *Server) copies(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="copies.csv"`)
	rows := [][]string{{"path", "copy_of"}}
	for _, f := range s.Session.CopiesAside() {
		rows = append(rows, []string{dataset.SafeCell(f.Path), dataset.SafeCell(f.Kept)})
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// figure writes a number for a table, nothing for nil.
func figure(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', 7, 64)
}

func (s *Server) thumb(w http.ResponseWriter, r *http.Request) error {
	return s.picture(w, r, thumbSide)
}

func (s *Server) photo(w http.ResponseWriter, r *http.Request) error {
	return s.picture(w, r, photoSide)
}

// picture answers with a JPEG of a photo. Thumbnails are kept; that of a box shows the box,
// and its large picture the whole photo.
func (s *Server) picture(w http.ResponseWriter, r *http.Request, side int) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	p, ok := s.Session.PhotoOf(id)
	if !ok {
		return noPhoto(id)
	}
	w.Header().Set("ETag", `"`+id.String()[:16]+`"`)
	w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
	if r.Header.Get("If-None-Match") == w.Header().Get("ETag") {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	jpeg, err := []byte(nil), fs.ErrNotExist
	if side == thumbSide {
		jpeg, err = teach.ReadThumbnail(s.Thumbnails, id)
	}
	if err != nil {
		if jpeg, err = s.draw(r, p, side); err != nil {
			w.Header().Del("ETag")
			return err
		}
		if side == thumbSide {
			s.keep(teach.ThumbnailFile(s.Thumbnails, id), jpeg)
		}
	}
	w.Header().Set("Content-Type", "image/jpeg")
	_, _ = w.Write(jpeg) // a client that is gone needs no answer
	return nil
}

// draw makes a picture of a photo, a few at a time.
func (s *Server) draw(r *http.Request, p teach.Photo, side int) ([]byte, error) {
	select {
	case s.pictures <- struct{}{}:
		defer func() { <-s.pictures }()
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	file := dataset.FullPath(s.Root, dataset.UnescapePath(p.File()))
	var jpeg []byte
	var of cache.Hash
	var err error
	if p.Box != nil && side == thumbSide {
		jpeg, of, err = s.Embedder.BoxThumbnail(r.Context(), file, p.Box, side)
	} else {
		jpeg, of, err = s.Embedder.Thumbnail(r.Context(), file, side)
		of = pixels.ContentHash(of, p.Box)
	}
	switch {
	case r.Context().Err() != nil:
		return nil, r.Context().Err()
	case err != nil:
		return nil, fail(http.StatusGone, "the photo cannot be read any more: %v", withoutPath(err))
	case of != cache.Hash(p.ID):
		return nil, fail(http.StatusGone, "the file has another photo by now; it is shown when it has been read")
	}
	return jpeg, nil
}

// withoutPath removes the path from an error: clients see no paths of this machine.
func withoutPath(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// keep stores a thumbnail; if that fails, it is made again.
func (s *Server) keep(file string, jpeg []byte) {
	err := os.MkdirAll(filepath.Dir(file), 0o700)
	if err == nil {
		err = atomicfile.WritePrivate(file, jpeg)
	}
	if err != nil {
		s.Log.Debug("a thumbnail was not kept", "reason", err)
	}
}

// quit ends the server, after this answer.
func (s *Server) quit(w http.ResponseWriter, _ *http.Request) error {
	if s.Quit == nil {
		return fail(http.StatusForbidden, "this server ends where it was started")
	}
	writeJSON(w, http.StatusAccepted, map[string]bool{"ok": true})
	s.Quit()
	return nil
}

func describe(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/yaml")
	_, _ = w.Write(description)
	return nil
}
