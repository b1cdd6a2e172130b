package serve

import (
	"context"
	"crypto/subtle"
	"encoding/gob"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/instance"
	"github.com/seed-90d10d51/pipeline/teach"
)

// openControl lets commands find the page and hand over work, until the function that it returns
// is called, which waits for what has begun. Where that cannot be, they are refused.
func (s *Server) openControl(ctx context.Context) (closeControl func()) {
	closeControl, err := openDoor(ctx, func(c instance.Contact) (http.Handler, error) {
		c.Page, c.Photos, c.Tickets = s.Entrance.Page, s.Root, s.Entrance.Admit != nil
		has := func(what string) bool { return what == "" }
		mux := http.NewServeMux()
		mux.HandleFunc("GET /here", c.Answer(has, s.Entrance.Admit))
		mux.Handle("POST /", s.control(c.Key))
		return recovering(mux, s.Log), s.Session.OpenControl(c)
	})
	if err != nil {
		s.Log.Warn("commands cannot add to the model while it is served", "reason", err)
		return func() {}
	}
	return closeControl
}

// control does the work of requests that have the key.
func (s *Server) control(key string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+key)) != 1 {
			refuse(w, http.StatusUnauthorized, "the key is missing or wrong")
			return
		}
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(requestTime))
		var work teach.Work
		if err := gob.NewDecoder(r.Body).Decode(&work); err != nil {
			refuse(w, http.StatusBadRequest, err.Error())
			return
		}
		// Also for a command that does not wait: half of it would leave traces.
		answer := s.take(context.WithoutCancel(r.Context()), work)
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(requestTime))
		if err := gob.NewEncoder(w).Encode(answer); err != nil {
			s.Log.Warn("a command did not wait for what it handed over", "reason", err)
		}
	})
}

// take does work, and saves the model as the command would.
func (s *Server) take(ctx context.Context, work teach.Work) (r teach.Result) {
	var err error
	r.Done, err = work.Do(ctx, s.Session)
	if !work.Learns() {
		err = errors.Join(err, teach.RemoveThumbnails(s.Thumbnails, r.Forgot))
	} else if err == nil && s.Session.Status().Unsaved > 0 {
		if r.Unsaved, err = s.Session.SaveIfAble(ctx); err != nil {
			err = fmt.Errorf("%s was not written, every decision is in its journal: %w", s.Name, err)
		}
	}
	switch {
	case err == nil, errors.As(err, &r.Conflicts), errors.As(err, &r.Refusal):
	default:
		r.Failure = err.Error()
	}
	s.Log.Info("a command handed over work", "added", r.Outcome.Added, "forgot", r.Removed)
	return r
}
