package serve

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/seed-90d10d51/pipeline/teach"
)

func (s *Server) images(w http.ResponseWriter, r *http.Request) error {
	values := r.URL.Query()
	q, err := filters(values)
	if err != nil {
		return err
	}
	q.View, q.After = teach.View(values.Get("view")), values.Get("cursor")
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
	if q.Duplicates, err = s.photoIn(values, "duplicates"); err != nil {
		return err
	}
	if q.Alike, err = alike(values); err != nil {
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
	if q.File, err = s.fileOf(values); err != nil {
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

// filters reads the parameters that select photos by name, folder, time, what was decided, class and probability.
func filters(values url.Values) (q teach.Query, err error) {
	q.Text, q.Folder, q.Class, q.Taken = values.Get("q"), values.Get("folder"), values.Get("class"), values.Get("taken")
	if q.State = teach.State(values.Get("state")); q.State != "" && !slices.Contains(teach.States, q.State) {
		return q, fail(http.StatusBadRequest, "state is %q: it is one of %q", q.State, teach.States)
	}
	for name, at := range map[string]*float64{"least": &q.Least, "most": &q.Most} {
		text := values.Get(name)
		if text == "" {
			continue
		}
		if *at, err = strconv.ParseFloat(text, 64); err != nil || !(*at >= 0 && *at <= 100) {
			return q, fail(http.StatusBadRequest, "%s is %q: it is a probability in percent, from 0 to 100", name, text)
		}
		*at /= 100
	}
	if q.Since, q.Until, err = days(values, "", time.Local); err == nil {
		q.TakenSince, q.TakenUntil, err = days(values, "taken_", time.UTC) // as clocks showed it
	}
	return q, err
}

// alike reads from which likeness on photos are near-duplicates.
func alike(values url.Values) (float64, error) {
	text := values.Get("alike")
	if text == "" {
		return teach.UsualAlike, nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= teach.LeastAlike && v <= teach.MostAlike) {
		return 0, fail(http.StatusBadRequest, "alike is %q: it is a likeness from %g to %g", text, teach.LeastAlike,
			teach.MostAlike)
	}
	return v, nil
}

// eventQuery reads the parameters about events.
func (s *Server) eventQuery(r *http.Request, q *teach.Query) error {
	folded, err := choice(r, "events")
	if err != nil {
		return err
	}
	q.Events = folded != nil && *folded
	if q.Event, err = s.photoIn(r.URL.Query(), "event"); err != nil {
		return err
	}
	if (q.Events || q.Event != teach.ID{}) && !s.Events {
		return fail(http.StatusBadRequest, "this server knows no events: start it with a gap between them")
	}
	return nil
}

// photoIn returns the photo that a parameter names, the zero ID if it is left out.
func (s *Server) photoIn(values url.Values, name string) (id teach.ID, err error) {
	text := values.Get(name)
	if text == "" {
		return id, nil
	}
	if id, err = teach.ParseID(text); err != nil {
		return id, fail(http.StatusBadRequest, "%s: %v", name, err)
	}
	if _, ok := s.Session.PhotoOf(id); !ok {
		return id, noPhoto(id)
	}
	return id, nil
}

// fileOf returns the file of a photo or box that beside names, "" for none.
func (s *Server) fileOf(values url.Values) (string, error) {
	of, err := s.photoIn(values, "beside")
	if err != nil {
		return "", err
	}
	p, _ := s.Session.PhotoOf(of)
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
