package teach

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/linalg"
	"github.com/seed-90d10d51/pipeline/model"
)

// growth is how much the examples grow until the next fit: all fits together cost
// five times the last one.
const growth = 1.25

// maxClassName is the most bytes of a name that is typed.
const maxClassName = 200

// Options configure a Session.
type Options struct {
	// Model is the MODEL file. If there is none and no journal, the session starts
	// from Fresh, a model that has learned nothing.
	Model string
	Fresh *model.Model
	// Dim is the number of values of an embedding.
	Dim int
	// Temp is the folder of temporary files, of 8 bytes per value of an embedding.
	Temp    string
	Backend linalg.Backend
	// ToolVersion is written into saved models.
	ToolVersion string
	// At is a line of the journal to go back to at the beginning, 0 for none.
	At int
	// Now is the clock of the journal; nil means time.Now.
	Now func() time.Time
	// Changed, unless nil, is called after a change: "change" for a decision or a save,
	// "refit" when a fit begins or ends, "status" for photos and problems, "groups".
	Changed func(event string)
}

// A Refusal reports that a request cannot be met; Text says why, for people.
type Refusal struct {
	Reason Reason
	Text   string
}

func (r *Refusal) Error() string { return r.Text }

// A Reason is the kind of a Refusal.
type Reason int

// The reasons.
const (
	Invalid  Reason = iota // the request itself is wrong
	Unknown                // there is no such photo or class
	Conflict               // it does not fit the present state
	Changed                // another program has changed the file of the model
	Lost                   // a file of the session is not where it was
)

func refuse(r Reason, format string, args ...any) error {
	return &Refusal{r, fmt.Sprintf(format, args...)}
}

// A Session is safe for concurrent use.
type Session struct {
	options Options

	fitting sync.Mutex // one fit at a time
	working sync.WaitGroup
	ctx     context.Context
	cancel  context.CancelFunc

	mu      sync.RWMutex
	journal *Journal
	base    *base
	gallery
	refit refitState
	photo PhotoCounts
	// inFile is the line up to which the file of the model has learned all decisions.
	inFile   int
	saving   *saving // nil if there is none
	notSaved error   // of the last save

	revision int
	orders   map[string]order // of this revision
}

// A refitState describes the last fit.
type refitState struct {
	running  bool
	seq, n   int // last line and number of examples that it knew
	duration time.Duration
	err      error
}

// PhotoCounts tells how far a folder was read.
type PhotoCounts struct {
	Found, Failed int
	Scanning      bool
}

// Open opens the session of a model, and begins to fit it to its journal in the
// background. The error wraps ErrInUse if another process has it.
func Open(o Options) (*Session, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Changed == nil {
		o.Changed = func(string) {}
	}
	if err := ownBase(o.Model); err != nil {
		return nil, err
	}
	j, err := OpenJournal(o.Model + journalSuffix)
	if err != nil {
		return nil, err
	}
	s := &Session{options: o, journal: j}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if err := s.open(); err != nil {
		return nil, errors.Join(err, s.abandon())
	}
	if err := s.start(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// open reads everything, and writes only to begin a journal, when nothing else can fail.
func (s *Session) open() (err error) {
	if s.album, err = newAlbum(s.options.Temp, s.options.Dim); err != nil {
		return err
	}
	file := s.options.Model + baseSuffix
	if len(s.journal.Lines()) == 0 {
		err = s.begin(file)
	} else {
		err = s.resume(file)
	}
	return err
}

// abandon ends a session that could not be opened. A journal without a line is only of
// use next to a base model.
func (s *Session) abandon() error {
	var err error
	if len(s.journal.Lines()) == 0 && free(s.options.Model+baseSuffix) && s.journal.intact() == nil {
		err = os.Remove(s.journal.path)
	}
	if s.base != nil {
		err = errors.Join(err, s.base.close())
	}
	return errors.Join(err, s.journal.Close(), s.x.close())
}

// start goes back if that was asked for, and begins to fit the model.
func (s *Session) start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.options.At != 0 {
		l, err := s.state.back(s.options.At)
		if err == nil {
			_, err = s.commit(l)
		}
		return err
	}
	if last := s.state.lastFit(); last > 0 {
		s.launch(last)
	} else {
		s.refitIfDue()
	}
	return nil
}

// begin writes the base model and the first line of the journal. A base model that is
// there is the same one, of a session that was killed here, or is kept.
func (s *Session) begin(file string) error {
	m, err := model.Load(s.options.Model)
	was := ""
	switch {
	case err == nil:
		was = m.SHA256()
	case errors.Is(err, fs.ErrNotExist) && s.options.Fresh != nil:
		m = s.options.Fresh
	default:
		return err
	}
	m.DropPrevious = true
	m.Replacing = func(present, _ string) error {
		if present == "" {
			return nil
		}
		return fmt.Errorf("there is another one, which some journal may need: move %s away to begin a new journal", file)
	}
	if err := m.SaveLike(file, s.options.Model); err != nil {
		return err
	}
	if s.base, err = openBase(file, s.options.Backend); err != nil {
		return err
	}
	_, err = s.journal.Append(Line{Time: s.options.Now(), Do: Start, Model: s.base.model.SHA256(), Was: was})
	s.state = fold(s.journal.Lines(), s.base.origin)
	return err
}

// resume checks that the base model and MODEL belong to the journal.
func (s *Session) resume(file string) (err error) {
	lines := s.journal.Lines()
	if s.base, err = openBase(file, s.options.Backend); err != nil {
		return fmt.Errorf("the journal needs the model that it starts from: %w", err)
	}
	if have := s.base.model.SHA256(); have != lines[0].Model && have != lines[0].To {
		return fmt.Errorf("%s is not the model that the journal %s starts from (SHA-256 %.12s…, not %.12s…): restore it from a copy", file, s.journal.path, have, lines[0].Model)
	}
	s.state = fold(lines, s.base.origin)
	m, err := model.Load(s.options.Model)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // everything is unsaved
	case err != nil:
		return err
	}
	seq, known := s.state.writtenAt(m.SHA256())
	if save := s.state.brokenOff(); !known && save != nil {
		seq, known = save.Seq, s.base.wouldWrite(m, fold(lines[:save.Seq-1], s.base.origin))
	}
	if !known {
		return fmt.Errorf("another command changed %s since it was served: "+
			"to teach that model, move %s and %s away; to go on with the journal, move %[1]s away",
			s.options.Model, s.journal.path, file)
	}
	s.inFile = seq
	return nil
}

// Close ends background work, but for a save, which it waits for, and frees the
// journal. It does not save the model. If nothing was decided, there is nothing to keep:
// the journal and the base model are removed, so that MODEL stands by itself again.
func (s *Session) Close() error {
	s.mu.Lock()
	s.cancel()
	s.mu.Unlock()
	s.working.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	if s.state.untouched() && s.intact() == nil {
		// While the journal is locked, and so that a kill leaves what begin goes on from.
		err = errors.Join(s.journal.file.Truncate(0), os.Remove(s.base.file), os.Remove(s.journal.path))
	}
	return errors.Join(err, s.journal.Close(), s.base.close(), s.x.close(), s.live.close())
}

// Wait waits for the end of background work.
func (s *Session) Wait() { s.working.Wait() }

// Dropped says what was missing at the end of the journal; "" for nothing.
func (s *Session) Dropped() string { return s.journal.Dropped }

// Healthy returns an error if decisions cannot be kept, and says what to do.
func (s *Session) Healthy() error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.intact()
}

// Base returns the model that the journal starts from; the caller must not change it.
func (s *Session) Base() *model.Model { return s.base.model }

// touch marks a change; the caller holds mu.
func (s *Session) touch() {
	s.revision++
	s.orders = map[string]order{}
}

// Found sets what is known about the folder.
func (s *Session) Found(c PhotoCounts) {
	s.mu.Lock()
	s.photo = c
	s.mu.Unlock()
	s.options.Changed("status")
}
