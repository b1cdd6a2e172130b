package teach

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/linalg"
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
	// Start, unless nil, is the model of StartFile(Model), which is not read again then. Nobody else may change it.
	Start *model.Model
	// Dim is the number of values of an embedding.
	Dim int
	// Temp is the folder of temporary files, of 8 bytes per value of an embedding.
	Temp    string
	Backend linalg.Backend
	// Elsewhere, unless nil, returns those embeddings of photos that it has, as a cache, made as those
	// of the base model; the journal asks it for what is neither stored nor of the folder.
	Elsewhere func(embedding.Provenance, []ID) map[ID][]float32
	// Sketch, unless nil, draws a photo: near-duplicates are then looked for by their pixels, too.
	Sketch func(context.Context, Photo) (Sketch, error)
	// ToolVersion is written into saved models.
	ToolVersion string
	// Gap is the longest time between two photos of an event that follow each other, 0 for no
	// events.
	Gap time.Duration
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
	Unkept                 // it cannot be written down
)

// refused reports whether an error is a Refusal of a kind.
func refused(err error, r Reason) bool {
	var refusal *Refusal
	return errors.As(err, &refusal) && refusal.Reason == r
}

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

	mu sync.RWMutex // of what follows, which takes no lock itself

	record  // what was decided: the base model and the journal
	gallery // the state that follows from it, the live model, and the photos that they are asked about
	saves   // MODEL

	refit refitState
	photo PhotoCounts
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
	if o.Model == "" {
		return nil, errors.New("open a session: no file of the model is given: set Model")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Changed == nil {
		o.Changed = func(string) {}
	}
	if err := ownBase(o.Model); err != nil {
		return nil, err
	}
	j, err := openJournal(o.Model + journalSuffix)
	if err != nil {
		return nil, err
	}
	s := &Session{
		options: o, record: record{file: o.Model, journal: j}, gallery: gallery{orders: map[string]order{}},
	}
	s.events.gap = o.Gap
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if err = closeControl(o.Model); err == nil {
		s.album, err = newAlbum(o.Temp, o.Dim)
	}
	if err == nil {
		s.state, s.inFile, err = s.open(o.Start, o.Fresh, o.Backend, o.Dim, o.Now())
	}
	if err != nil {
		s.x.Close()
		return nil, errors.Join(err, s.abandon())
	}
	if o.At != 0 {
		_, err = s.GoBack(o.At)
	} else {
		s.mu.Lock()
		if last := s.state.lastFit(); last > 0 && !s.supplies() {
			s.launch(last)
		} else {
			s.refitIfDue()
		}
		s.mu.Unlock()
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
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
		err = s.discard()
	}
	s.x.Close()
	s.live.close()
	return errors.Join(err, closeControl(s.options.Model), s.record.close())
}

// Wait waits for the end of background work.
func (s *Session) Wait() { s.working.Wait() }

// Dropped says what was missing at the end of the journal; "" for nothing.
func (s *Session) Dropped() string { return s.journal.Dropped }

// Base returns the model that the journal starts from; the caller must not change it.
func (s *Session) Base() *model.Model { return s.base.model }

// Found sets what is known about the folder.
func (s *Session) Found(c PhotoCounts) {
	s.mu.Lock()
	s.photo = c
	s.mu.Unlock()
	s.options.Changed("status")
}
