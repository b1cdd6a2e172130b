package teach

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"net/http"

	"github.com/seed-90d10d51/pipeline/internal/instance"
	"github.com/seed-90d10d51/pipeline/model"
)

// Work is what a command does to a model that was taught. A command that finds the model open
// hands it to the server that has it.
type Work struct {
	// Import learns these photos of a folder or list, nil for none, and sets those of Aside aside;
	// Merge learns what was decided with the model of another file, "" for none; Prefer is as in
	// Session.Import.
	Import *model.Batch
	Aside  []Aside
	Merge  string
	Prefer Preference
	// Forget removes photos, and all photos of Classes.
	Forget  []ID
	Classes []string
}

// Done is what Work did.
type Done struct {
	Outcome model.Outcome // of Import or Merge
	// Forgot are the photos that were asked for, Removed those that were there, and Left the
	// traces elsewhere.
	Forgot  []ID
	Removed int
	Left    []string
	// Unsaved says why MODEL was not written, "" if it was.
	Unsaved string
}

// Do does the work. It is in the journal when Do returns, and may be done again, which changes
// nothing.
func (w Work) Do(ctx context.Context, s *Session) (d Done, err error) {
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

// Learns reports whether the model that is saved learns from the work, which forgetting does by
// itself.
func (w Work) Learns() bool { return w.Import != nil || w.Merge != "" }

// A Result is the answer to work.
type Result struct {
	Done
	Conflicts *ConflictsError
	Refusal   *Refusal
	Failure   string
}

// Hand hands work to the server that has a MODEL file open. The error wraps ErrInUse if
// whoever has it takes none.
func Hand(ctx context.Context, file string, work Work) (Done, error) {
	p, err := Control(file)
	switch {
	case err != nil:
		return Done{}, err
	case p == nil:
		return Done{}, fmt.Errorf("%s: %w", file, ErrInUse)
	}
	if _, _, err := p.Ask(ctx, ""); errors.Is(err, instance.ErrStranger) {
		return Done{}, fmt.Errorf("%s: %w", file, ErrInUse)
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
	var r Result
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
