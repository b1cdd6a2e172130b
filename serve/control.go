package serve

import (
	"bytes"
	"context"
	"crypto/subtle"
	"encoding/gob"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/instance"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/teach"
)

// Work is what a command does to a model that was taught. A command that finds the model open
// hands it to the server that has it.
type Work struct {
	// Import learns these photos of a folder or list, nil for none, and sets those of Aside aside;
	// Merge learns what was decided with the model of another file, "" for none; Prefer is as in
	// teach.Session.Import.
	Import *model.Batch
	Aside  []teach.Aside
	Merge  string
	Prefer teach.Preference
	// Forget removes photos, and all photos of Classes.
	Forget  []teach.ID
	Classes []string
}

// Done is what Work did.
type Done struct {
	Outcome model.Outcome // of Import or Merge
	// Forgot are the photos that were asked for, Removed those that were there, and Left the
	// traces elsewhere.
	Forgot  []teach.ID
	Removed int
	Left    []string
	// Unsaved says why MODEL was not written, "" if it was.
	Unsaved string
}

// Do does the work. It is in the journal when Do returns, and may be done again, which changes
// nothing.
func (w Work) Do(ctx context.Context, s *teach.Session) (d Done, err error) {
	switch {
	case w.Import != nil:
		d.Outcome, err = s.Import(*w.Import, w.Aside, w.Prefer)
		return d, err
	case w.Merge != "":
		d.Outcome, err = s.Merge(w.Merge, w.Prefer)
		return d, err
	}
	of, err := s.PhotosOf(w.Classes)
	if err != nil {
		return d, err
	}
	d.Forgot = append(of, w.Forget...)
	d.Removed, d.Left, err = s.Forget(ctx, d.Forgot)
	return d, err
}

// Save writes the model of a session. unsaved says why there is none to write, which is no error.
func Save(ctx context.Context, s *teach.Session) (unsaved string, err error) {
	_, err = s.Save(ctx)
	refused := (*teach.Refusal)(nil)
	switch {
	case err == nil:
		return "", nil
	case !errors.As(err, &refused):
		return "", err
	case refused.Reason == teach.Conflict:
		return refused.Text, nil
	}
	return "", refused // without what it was wrapped in
}

// Learns reports whether the model that is saved learns from the work, which forgetting does by
// itself.
func (w Work) Learns() bool { return w.Import != nil || w.Merge != "" }

// result is the answer to work.
type result struct {
	Done
	Conflicts *teach.ConflictsError
	Refusal   *teach.Refusal
	Failure   string
}

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
		var work Work
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
func (s *Server) take(ctx context.Context, work Work) (r result) {
	var err error
	r.Done, err = work.Do(ctx, s.Session)
	if !work.Learns() {
		err = errors.Join(err, RemoveThumbnails(s.Thumbnails, r.Forgot))
	} else if err == nil && s.Session.Status().Unsaved > 0 {
		if r.Unsaved, err = Save(ctx, s.Session); err != nil {
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

// Hand hands work to the server that has a MODEL file open. The error wraps teach.ErrInUse if
// whoever has it takes none.
func Hand(ctx context.Context, file string, work Work) (Done, error) {
	p, err := teach.Control(file)
	switch {
	case err != nil:
		return Done{}, err
	case p == nil:
		return Done{}, fmt.Errorf("%s: %w", file, teach.ErrInUse)
	}
	if _, _, err := p.Ask(ctx, ""); errors.Is(err, instance.ErrStranger) {
		return Done{}, fmt.Errorf("%s: %w", file, teach.ErrInUse)
	} else if err != nil {
		return Done{}, broken(file, err)
	}
	var body bytes.Buffer
	if err := gob.NewEncoder(&body).Encode(work); err != nil {
		return Done{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+p.Address, &body)
	if err != nil {
		return Done{}, err
	}
	request.Header.Set("Authorization", "Bearer "+p.Key)
	response, err := instance.Client().Do(request)
	if err != nil {
		return Done{}, broken(file, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return Done{}, broken(file, errors.New(response.Status))
	}
	var r result
	if err := gob.NewDecoder(response.Body).Decode(&r); err != nil {
		return Done{}, broken(file, err)
	}
	switch {
	case r.Conflicts != nil:
		return r.Done, r.Conflicts
	case r.Refusal != nil:
		return r.Done, r.Refusal
	case r.Failure != "":
		return r.Done, errors.New(r.Failure)
	}
	return r.Done, nil
}

// broken says what to do after a server that has not answered.
func broken(file string, err error) error {
	return fmt.Errorf("the server that has %s open did not answer; repeat the command, which does what is not yet in "+
		"the journal: %w", file, err)
}
