package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/embed/cache"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/model/account"
	"github.com/seed-90d10d51/pipeline/model/advice"
	"github.com/seed-90d10d51/pipeline/teach"
)

// taught reports whether a MODEL file follows from a journal.
func taught(file string) bool { return file != "" && teach.StartFile(file) != file }

// notTaught refuses a preference where nothing was decided.
func notTaught(file string) error {
	return misuse("{prefer} is for models that were taught with serve, and %s was not: leave it out", file)
}

// Writable returns an error if one of the named files cannot be written, or is a
// model that is being served, so that a request fails before its work rather than after
// it. Empty names and "-" are no files.
func Writable(files ...string) error {
	for _, file := range files {
		if file == "" || file == streamed {
			continue
		}
		f, err := atomicfile.Create(file)
		if err != nil {
			return err
		}
		f.Abort()
		if err := teach.Free(file); err != nil {
			return err
		}
	}
	return nil
}

// Replaceable returns an error unless another model can take the place of a MODEL file, which
// must not follow from a journal.
func Replaceable(file string) error {
	if err := Writable(file); err != nil {
		return err
	}
	if taught(file) {
		return misuse("%s was taught with serve, and only photos can be added to its journal: give another {out}", file)
	}
	return nil
}

// save writes a model, unless it has no file or a server was started on it since the request began.
func save(m *model.Model, file string) error {
	if file == "" {
		return nil
	}
	if err := teach.Free(file); err != nil {
		return err
	}
	return m.Save(file)
}

// openSession opens the session of a MODEL that was taught, for embeddings of d values.
func (r *run) openSession(file string, d int) (*teach.Session, error) {
	temp, err := r.folder("teach")
	if err != nil {
		return nil, err
	}
	// Without an end: the model is written after that of the request.
	products, err := r.products()
	if err != nil {
		return nil, err
	}
	return teach.Open(teach.Options{
		Model: file, Dim: d, Temp: temp, Backend: products, ToolVersion: r.version, Elsewhere: r.cached,
	})
}

// cached returns embeddings of photos that are in the cache.
func (s *Studio) cached(origin embed.Provenance, ids []teach.ID) map[teach.ID][]float32 {
	found, err := s.cachedRows(origin, ids)
	if err != nil {
		s.log.Warn("the cache could not be asked for photos that are not in the folder", "reason", err)
	}
	return found
}

func (s *Studio) cachedRows(origin embed.Provenance, ids []teach.ID) (found map[teach.ID][]float32, err error) {
	stored, err := s.Options(s.until).Stored(origin)
	if err != nil {
		return nil, err
	}
	defer closeInto(stored, &err)
	found = map[teach.ID][]float32{}
	for _, id := range ids {
		if x, ok := stored.Get(cache.Hash(id)); ok {
			found[id] = x
		}
	}
	return found, nil
}

// reachable returns an error unless a model that was taught can be changed, by this program or
// by a server that has it open, so that a request fails before its work.
func reachable(file string) error {
	err := Writable(file)
	if !errors.Is(err, teach.ErrInUse) {
		return err
	}
	if control, controlErr := teach.Control(file); controlErr != nil || control == nil {
		return err
	}
	return nil
}

// do does work on a model that was taught, whose embeddings have d values, or hands it to the
// server that has the model open.
func (r *run) do(ctx context.Context, file string, d int, work teach.Work) (done teach.Done, err error) {
	session, err := r.openSession(file, d)
	if errors.Is(err, teach.ErrInUse) {
		if done, err = teach.Hand(ctx, file, work); err == nil {
			r.say("handed to the server that has %s open, which shows it on its page", file)
		}
		return done, err
	}
	if err != nil {
		return done, err
	}
	defer closeInto(session, &err)
	r.warnOpened(session, file)
	if done, err = work.Do(ctx, session); err != nil || !work.Learns() {
		return done, err
	}
	done.Unsaved, err = r.leave(context.WithoutCancel(ctx), session, file)
	return done, err
}

// warnOpened says what a server that was killed, or failed to save, has left.
func (s *Studio) warnOpened(session *teach.Session, file string) {
	if dropped := session.Dropped(); dropped != "" {
		s.log.Warn("the journal ended in the middle of a line, as after a kill; it was not acknowledged and is dropped",
			"dropped", dropped)
	}
	if n := session.Status().Unsaved; n > 0 {
		s.log.Warn("the model lacks decisions that are in its journal: save on the page, or end this server, which "+
			"saves too",
			"file", file, "decisions", n)
	}
}

// leave writes the model if it is behind the journal and there are two classes, and
// waits for a save that is running. unsaved says why there is no model to write.
func (s *Studio) leave(ctx context.Context, session *teach.Session, file string) (unsaved string, err error) {
	if st := session.Status(); st.Unsaved == 0 && st.Lost == nil {
		return "", nil
	}
	s.say("writing %s; every decision is in its journal already", file)
	if unsaved, err = session.SaveIfAble(ctx); err != nil {
		err = &UnsavedError{file, err}
	}
	return unsaved, err
}

// learnTaught adds a folder or list to the journal of a model, and saves the model.
func (r *run) learnTaught(ctx context.Context, q LearnRequest) (*Learned, error) {
	if err := reachable(q.Model); err != nil {
		return nil, err
	}
	if q.Texts != "" {
		return nil, misuse("%s was taught with serve, and only photos can be added to its journal: "+
			"to add names with {texts}, give another {out}", q.Model)
	}
	start, err := model.Load(teach.StartFile(q.Model))
	if err != nil {
		return nil, err
	}
	in := r.inputs(q.From, q.Out)
	var aside []teach.Aside
	e, b, err := in.labelledOr(ctx, start, func(item embed.Item) { aside = append(aside, shownAside(item)) })
	if err != nil {
		return nil, err
	}
	done, err := r.do(ctx, q.Model, e.X.Cols, teach.Work{Import: &b, Aside: aside, Prefer: q.Prefer})
	if err != nil {
		return nil, withChoice(err)
	}
	l := &Learned{File: q.Model, Outcome: done.Outcome, Unsaved: done.Unsaved, Failed: len(e.Outcome.Problems)}
	if done.Unsaved != "" { // as with fewer than two classes
		l.lines.add("%s was not written: %s", q.Model, done.Unsaved)
		return l, r.problems(e.Outcome.Problems, q.Model+".errors.csv")
	}
	if l.Model, err = model.Load(q.Model); err != nil {
		return nil, err
	}
	if l.Account, err = teach.Learned(q.Model, l.Model); err != nil {
		return nil, err
	}
	l.outcome(r, "learned, in the journal too:")
	r.warn(advice.Nesting(l.Model.Classes(), l.Outcome.NewClasses, in.folders(e.Samples)))
	l.lines = append(l.lines, account.Trained(l.Model)...)
	return l, r.problems(e.Outcome.Problems, q.Model+".errors.csv")
}

// shownAside is a photo of no class or of several.
func shownAside(item embed.Item) teach.Aside {
	shown := teach.Aside{Content: item.Hash, Path: item.Sample.Path, Vector: slices.Clone(item.Vector)}
	for _, class := range dataset.SplitLabels(item.Sample.Several) {
		shown.Labels = append(shown.Labels, dataset.EscapePath(class))
	}
	return shown
}

// Preference reads what to prefer where a photo was decided to be of another class: decisions or
// list, "" to ask.
func Preference(prefer string) (teach.Preference, error) {
	choice := teach.Preference(prefer)
	if choice != "" && choice != teach.Decisions && choice != teach.Lists {
		return "", misuse("{prefer} is %q: choose decisions or list", prefer)
	}
	return choice, nil
}

// withChoice says how to choose where two truths conflict.
func withChoice(err error) error {
	if conflicts := (*teach.ConflictsError)(nil); errors.As(err, &conflicts) {
		return fmt.Errorf("%w. %s", err, conflicts.Choice())
	}
	return err
}
