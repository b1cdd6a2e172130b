package teach

import (
	"fmt"
	"math"
	"strings"

	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/model/account"
)

// A Status tells how far everything is.
type Status struct {
	Revision, Seq int
	Method        string
	// Ready reports that photos are scored; Instant that a decision changes scores at
	// once.
	Ready, Instant bool
	// Unsaved counts decisions that the file of the model has not learned. Saving reports
	// that a save is running, NotSaved why the last one failed.
	Unsaved  int
	Saving   bool
	NotSaved error
	// Lost says why nothing can be decided, Unkept why that could not be written which was
	// decided last, and FailedWrites counts such decisions.
	Lost, Unkept error
	FailedWrites int
	Photos       PhotoCounts
	// Embedded counts the photos of the session, Seen those that said when and where they
	// were taken, or do not know.
	Embedded, Seen int
	Classes        int
	Account        account.Account
	// Trained says what to expect of photos like those that the model learned, if no photo waits for a label.
	Trained      string
	Refitting    bool
	RefitSeq     int
	RefitSeconds float64 // 0 before the first
	Problem      error   // of the last fit
	// NoThreshold reports that nothing tells unknown photos from others.
	NoThreshold bool
	// Arranging reports that neighbours are looked for and the map is arranged, Arranged which
	// share of that is done.
	Arranging bool
	Arranged  float64
	// Undo and Redo say what they would do, "" for nothing.
	Undo, Redo string
}

// Status returns the status.
func (s *Session) Status() Status {
	s.mu.RLock()
	defer s.mu.RUnlock()
	st := Status{
		Revision: s.revision, Seq: len(s.state.lines), Method: s.base.model.Method,
		Ready: s.live != nil, Instant: s.live != nil && s.live.linear != nil,
		Unsaved: s.state.changesSince(s.inFile), Saving: s.saving != nil, NotSaved: s.notSaved, Lost: s.intact(),
		Unkept: s.journal.keeping.last, FailedWrites: s.journal.keeping.failed,
		Photos: s.photo, Classes: len(s.state.current()),
		Refitting: s.refit.running, RefitSeq: s.refit.seq, RefitSeconds: s.refit.duration.Seconds(),
		Problem: s.refit.err, Arranging: s.arranging.running, Arranged: s.arranging.share,
	}
	for _, p := range s.listed() {
		st.Embedded++
		if p.Shot != nil {
			st.Seen++
		}
	}
	st.Photos.Found = max(st.Photos.Found, st.Embedded)
	st.NoThreshold = s.live != nil && math.IsInf(s.live.threshold, 1)
	st.Undo, st.Redo = describeLast(s.state.done), describeLast(s.state.undone)
	st.Account = s.account(st)
	if st.Account.Expected == nil && s.live != nil {
		if said := account.Trained(s.live.Model); len(said) > 0 {
			st.Trained = said[0]
		}
	}
	return st
}

// describeLast describes the last one of some lines; "" for none.
func describeLast(lines *stack) string {
	if lines == nil {
		return ""
	}
	return Describe(lines.last)
}

// Describe says in words what a line does.
func Describe(l Line) string {
	photos := fmt.Sprintf("%d photos", len(l.Images))
	if len(l.Images) == 1 {
		photos = "a photo"
	}
	switch l.Do {
	case Ignore:
		if l.Kept != nil {
			return fmt.Sprintf("set %s aside as copies of one that is kept", photos)
		}
		return fmt.Sprintf("set %s aside as not usable", photos)
	case Skip:
		return fmt.Sprintf("put %s off for later", photos)
	case Several:
		return fmt.Sprintf("label %s with %s", photos, strings.Join(l.Classes, ", "))
	case Label:
		return fmt.Sprintf("label %s %s", photos, l.Class)
	case Learn:
		return fmt.Sprintf("learn %s as %s", photos, l.Class)
	case Unlabel:
		return "remove the label of " + photos
	case Accept:
		return strings.TrimSpace("accept the labels of " + photos + " " + l.Class)
	case SpotCheck:
		return fmt.Sprintf("draw %s to check", photos)
	case Import:
		if l.From != "" {
			return fmt.Sprintf("merge %s: %s", l.From, photos)
		}
		return fmt.Sprintf("learn %s from a folder or list", photos)
	case Rename:
		return fmt.Sprintf("rename %s to %s", l.Class, l.To)
	case Merge:
		return fmt.Sprintf("merge %s into %s", l.Class, l.To)
	case Back:
		return fmt.Sprintf("go back to line %d", l.Of)
	case Undo, Redo:
		return fmt.Sprintf("%s line %d", l.Do, l.Of)
	case Refit:
		return "update the model"
	case Save, Saved:
		return "save the model"
	}
	return "begin the journal"
}

// A ClassCount counts the photos of a class.
type ClassCount struct {
	Name string
	// Learned examples; Labelled by a person, Accepted in bulk, Listed by their folder or a list, and Predicted photos
	// of the folder; Detected ones, which are of no class of the model.
	Learned, Labelled, Accepted, Listed, Predicted, Detected int
}

// Classes returns the classes of the model in its order, then others that photos
// have.
func (s *Session) Classes() []ClassCount {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := []ClassCount{}
	at := map[string]int{}
	add := func(name string) *ClassCount {
		if _, ok := at[name]; !ok {
			at[name] = len(out)
			out = append(out, ClassCount{Name: name})
		}
		return &out[at[name]]
	}
	if s.live != nil && !s.live.stale {
		for _, name := range s.live.Classes() {
			add(name)
		}
	}
	for _, e := range s.state.examples() {
		add(e.Class).Learned++
	}
	for i := range s.listed() {
		switch class, by := s.label(i); {
		case by.Aside():
		case by == label.Person:
			add(class).Labelled++
		case by == label.Detector:
			add(class).Detected++
		case by == label.Bulk:
			add(class).Accepted++
		case class != "":
			add(class).Listed++
		case s.live.scored(i):
			predicted, _ := s.live.predicted(i)
			add(predicted).Predicted++
		}
	}
	return out
}
