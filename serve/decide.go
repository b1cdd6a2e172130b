package serve

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/seed-90d10d51/pipeline/teach"
)

// done answers a decision.
func (s *Server) done(w http.ResponseWriter, l teach.Line, err error) error {
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, map[string]any{"step": newStep(teach.Step{Line: l}), "status": s.newStatus()})
	return nil
}

func (s *Server) decide(w http.ResponseWriter, r *http.Request) error {
	var d teach.Decision
	if err := readJSON(w, r, &d); err != nil {
		return err
	}
	if err := checkCount(d.Images); err != nil {
		return err
	}
	line, err := s.Session.Do(d)
	return s.done(w, line, err)
}

// checkCount bounds the photos of a request: each adds its embedding to the journal.
func checkCount(images []teach.ID) error {
	if len(images) > maxImages {
		return fail(http.StatusBadRequest, "%d photos: send at most %d in one request", len(images), maxImages)
	}
	return nil
}

func (s *Server) acceptable(w http.ResponseWriter, r *http.Request) error {
	above, err := strconv.ParseFloat(r.URL.Query().Get("above"), 64)
	if err != nil || !(above >= 0 && above <= 1) {
		return fail(http.StatusBadRequest, "above is %q: it is a probability from 0 to 1", r.URL.Query().Get("above"))
	}
	q, err := filters(r.URL.Query())
	if err != nil {
		return err
	}
	a := s.Session.Acceptable(above, q)
	out := map[string]any{"images": a.Images, "precision": nil, "expected_wrong": a.Wrong, "low": a.Low, "high": a.High,
		"checked": map[string]int{"n": a.Checked, "correct": a.Correct}, "drawn": len(a.Drawn)}
	if a.Images > 0 {
		out["precision"] = 1 - a.Wrong/float64(a.Images)
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

// mostChecked is the largest number of photos of a spot check.
const mostChecked = 500

func (s *Server) check(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Above *float64 `json:"above"`
		Class string   `json:"class"`
		N     int      `json:"n"`
	}
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	if body.Above == nil {
		return fail(http.StatusBadRequest, "above is missing: the least probability")
	}
	if body.N < 1 || body.N > mostChecked {
		return fail(http.StatusBadRequest, "n is %d: it is a number of photos from 1 to %d", body.N, mostChecked)
	}
	ids, err := s.Session.SpotCheck(*body.Above, body.Class, body.N)
	if err != nil {
		return err
	}
	items := make([]teach.Item, 0, len(ids))
	for _, id := range ids {
		if it, ok := s.Session.Get(id); ok {
			items = append(items, it)
		}
	}
	writeJSON(w, http.StatusOK, map[string]any{"images": newImages(items), "status": s.newStatus()})
	return nil
}

func (s *Server) accept(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Above *float64 `json:"above"`
		Class string   `json:"class"`
	}
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	if body.Above == nil {
		return fail(http.StatusBadRequest, "above is missing: the least probability")
	}
	q, err := filters(r.URL.Query())
	if err != nil {
		return err
	}
	if body.Class != "" {
		q.Class = body.Class
	}
	line, err := s.Session.Accept(*body.Above, q)
	return s.done(w, line, err)
}

func (s *Server) undo(w http.ResponseWriter, _ *http.Request) error {
	line, err := s.Session.Undo()
	return s.done(w, line, err)
}

func (s *Server) redo(w http.ResponseWriter, _ *http.Request) error {
	line, err := s.Session.Redo()
	return s.done(w, line, err)
}

func (s *Server) goBack(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Seq int `json:"seq"`
	}
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	line, err := s.Session.GoBack(body.Seq)
	return s.done(w, line, err)
}

func (s *Server) forget(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Images []teach.ID `json:"images"`
	}
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	if len(body.Images) == 0 {
		return fail(http.StatusBadRequest, "images is missing: the ids of the photos")
	}
	if err := checkCount(body.Images); err != nil {
		return err
	}
	_ = http.NewResponseController(w).SetWriteDeadline(noDeadline)
	// Also for somebody who does not wait: half of it would leave traces.
	removed, left, err := s.Session.Forget(context.WithoutCancel(r.Context()), body.Images)
	err = errors.Join(err, teach.RemoveThumbnails(s.Thumbnails, body.Images))
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK,
		map[string]any{"removed": removed, "left": append([]string{}, left...), "status": s.newStatus()})
	return nil
}

func (s *Server) history(w http.ResponseWriter, r *http.Request) error {
	n, err := limit(r)
	if err != nil {
		return err
	}
	before, err := number(r, "before", 1, 1<<40, 0)
	if err != nil {
		return err
	}
	out := []step{}
	for _, st := range s.Session.History(before, n) {
		out = append(out, newStep(st))
	}
	writeJSON(w, http.StatusOK, map[string]any{"history": out})
	return nil
}

func (s *Server) points(w http.ResponseWriter, _ *http.Request) error {
	out := []point{}
	for _, p := range s.Session.Points() {
		out = append(out, newPoint(p))
	}
	writeJSON(w, http.StatusOK, map[string]any{"points": out})
	return nil
}

// save may take longer than other answers, as forget may, and than its request: how it
// ends is said in any case.
func (s *Server) save(w http.ResponseWriter, r *http.Request) error {
	_ = http.NewResponseController(w).SetWriteDeadline(noDeadline)
	hash, err := s.Session.Save(context.WithoutCancel(r.Context()))
	if err != nil {
		s.Log.Error("the model was not saved", "reason", err)
		return err
	}
	writeJSON(w, http.StatusOK, map[string]any{"sha256": hash, "status": s.newStatus()})
	return nil
}
