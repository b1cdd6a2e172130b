package serve

import (
	"encoding/csv"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/seed-90d10d51/pipeline/dataset"
	pixels "github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/embed/cache"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
	"github.com/seed-90d10d51/pipeline/teach"
)

// Sides of pictures, in pixels.
const (
	thumbSide = 384
	photoSide = 2048
)

// maxThumbBytes is more than any thumbnail has.
const maxThumbBytes = 1 << 20

// shownOfGroup is the number of photos that the list of groups shows of each.
const shownOfGroup = 12

func (s *Server) images(w http.ResponseWriter, r *http.Request) error {
	values := r.URL.Query()
	q, err := filters(values)
	if err != nil {
		return err
	}
	q.View, q.Class, q.After = teach.View(values.Get("view")), values.Get("class"), values.Get("cursor")
	switch q.View {
	case "":
		q.View = teach.All
	case teach.All, teach.Check, teach.Novel, teach.Suspicious, teach.OfClass, teach.Typical, teach.Accepted:
	default:
		return fail(http.StatusBadRequest,
			"view is %q: choose all, check, unknown, suspicious, class, start or accepted", q.View)
	}
	if q.Of, err = number(r, "of", 1, 1<<40, 0); err != nil {
		return err
	}
	if q.Limit, err = limit(r); err != nil {
		return err
	}
	if q.Group, err = number(r, "group", 1, 1<<53, 0); err != nil {
		return err
	}
	if q.Decided, err = choice(r, "decided"); err != nil {
		return err
	}
	if err := s.eventQuery(r, &q); err != nil {
		return err
	}
	if q.ByTime, err = byTime(values.Get("order")); err != nil {
		return err
	}
	if q.File, err = s.fileOf(values.Get("beside")); err != nil {
		return err
	}
	p, err := s.Session.List(q)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"images": newImages(p.Items), "total": p.Total, "untimed": p.Untimed, "next": unlessZero(p.Next),
		"revision": p.Revision,
	})
	return nil
}

// filters reads the parameters that select photos by name, folder and time.
func filters(values url.Values) (q teach.Query, err error) {
	q.Text, q.Folder = values.Get("q"), values.Get("folder")
	if q.Since, q.Until, err = days(values, "", time.Local); err == nil {
		q.TakenSince, q.TakenUntil, err = days(values, "taken_", time.UTC) // as clocks showed it
	}
	return q, err
}

// eventQuery reads the parameters about events.
func (s *Server) eventQuery(r *http.Request, q *teach.Query) error {
	folded, err := choice(r, "events")
	if err != nil {
		return err
	}
	q.Events = folded != nil && *folded
	if id := r.URL.Query().Get("event"); id != "" {
		if err := q.Event.UnmarshalText([]byte(id)); err != nil {
			return fail(http.StatusBadRequest, "event: %v", err)
		}
		if _, ok := s.Session.PhotoOf(q.Event); !ok {
			return noPhoto(q.Event)
		}
	}
	if (q.Events || q.Event != teach.ID{}) && !s.Events {
		return fail(http.StatusBadRequest, "this server knows no events: start it with --events SECONDS")
	}
	return nil
}

// fileOf returns the file of a photo or box, "" for the empty id.
func (s *Server) fileOf(id string) (string, error) {
	if id == "" {
		return "", nil
	}
	of, err := teach.ParseID(id)
	if err != nil {
		return "", fail(http.StatusBadRequest, "beside: %v", err)
	}
	p, ok := s.Session.PhotoOf(of)
	if !ok {
		return "", noPhoto(of)
	}
	return p.File(), nil
}

func byTime(order string) (bool, error) {
	if order != "" && order != "time" {
		return false, fail(http.StatusBadRequest, "order is %q: it is time, or left out for that of the view", order)
	}
	return order != "", nil
}

// days reads the parameters since and until, whose names begin with a prefix: two days, the
// second of which is the last one, or two moments. The end is excluded.
func days(values url.Values, prefix string, zone *time.Location) (since, until time.Time, err error) {
	for name, at := range map[string]*time.Time{prefix + "since": &since, prefix + "until": &until} {
		text := values.Get(name)
		if text == "" {
			continue
		}
		const moment = "2006-01-02T15:04"
		if *at, err = time.ParseInLocation(moment, text, zone); err == nil {
			continue
		}
		if *at, err = time.ParseInLocation(time.DateOnly, text, zone); err != nil {
			return since, until, fail(http.StatusBadRequest,
				"%s is %q: it is a date such as 2026-05-31, or a time such as 2026-05-31T18:30", name, text)
		}
		if at == &until {
			until = until.AddDate(0, 0, 1)
		}
	}
	return since, until, nil
}

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
		Images []image `json:"images"`
	}
	found, computing := s.Session.Groups(n, shownOfGroup)
	out := make([]group, len(found))
	for i, g := range found {
		out[i] = group{g.ID, g.Size, newImages(g.Items)}
	}
	writeJSON(w, http.StatusOK,
		map[string]any{"groups": out, "computing": computing, "revision": s.Session.Status().Revision})
	return nil
}

func (s *Server) classes(w http.ResponseWriter, _ *http.Request) error {
	type class struct {
		Name      string `json:"name"`
		Learned   int    `json:"learned"`
		Labelled  int    `json:"labelled"`
		Accepted  int    `json:"accepted"`
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
	kept := thumbnailFile(s.Thumbnails, id)
	jpeg, err := []byte(nil), fs.ErrNotExist
	if side == thumbSide {
		jpeg, err = regularfile.Read(kept, maxThumbBytes)
	}
	if err != nil {
		if jpeg, err = s.draw(r, p, side); err != nil {
			w.Header().Del("ETag")
			return err
		}
		if side == thumbSide {
			s.keep(kept, jpeg)
		}
	}
	w.Header().Set("Content-Type", "image/jpeg")
	_, _ = w.Write(jpeg) // a client that is gone needs no answer
	return nil
}

func thumbnailFile(dir string, id teach.ID) string {
	name := id.String()
	return filepath.Join(dir, name[:2], name+".jpg")
}

// RemoveThumbnails removes the thumbnails of photos from the folder in which servers
// keep them.
func RemoveThumbnails(dir string, ids []teach.ID) (err error) {
	for _, id := range ids {
		if e := atomicfile.Remove(thumbnailFile(dir, id)); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
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
		err = atomicfile.WriteFile(file, jpeg)
	}
	if err != nil {
		s.Log.Debug("a thumbnail was not kept", "reason", err)
	}
}

func (s *Server) health(w http.ResponseWriter, _ *http.Request) error {
	if err := s.Session.Healthy(); err != nil {
		return fail(http.StatusServiceUnavailable, "%v", err)
	}
	writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
	return nil
}

func (s *Server) describe(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/yaml")
	_, _ = w.Write(description)
	return nil
}
