package teach

import (
	"fmt"
	"math"
	"strings"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/model/advice"
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
	// Person and Bulk count labels, Detected the boxes of what a detector names.
	Person, Bulk, Detected int
	// Checked photos had a prediction when a person labelled them alone; Right were
	// predicted right. Recent is the share of the last 50, NaN below ten.
	Checked, Right int
	Recent         float64
	// LeftOut examples were scored by a model that had not learned them.
	LeftOut, LeftOutRight int
	Refitting             bool
	RefitSeq              int
	RefitSeconds          float64 // 0 before the first
	Problem               error   // of the last fit
	// Folder has the labels that the model would give: of the photos without one that do not
	// look unknown. Expected of them is right, if they show known classes.
	Folder   int
	Expected *Expected
	// NoThreshold reports that nothing tells unknown photos from others.
	NoThreshold bool
	// Arranging reports that neighbours are looked for and the map is arranged, Arranged which
	// share of that is done.
	Arranging bool
	Arranged  float64
	Advice    advice.Step
	// Found says what training found of the model, as the commands do: how many photos will be named right,
	// and what is confused.
	Found []string
	// Undo and Redo say what they would do, "" for nothing.
	Undo, Redo string
}

// An Expected share lies from Low to High in 19 of 20 folders.
type Expected struct{ Share, Low, High float64 }

// Sizes of Status.Recent.
const (
	recent      = 50
	leastRecent = 10
)

// Status returns the status.
func (s *Session) Status() Status {
	s.mu.RLock()
	defer s.mu.RUnlock()
	st := Status{
		Revision: s.revision, Seq: len(s.state.lines), Method: s.base.model.Method,
		Ready: s.live != nil, Instant: s.live != nil && s.live.linear != nil,
		Unsaved: s.state.changesSince(s.inFile), Saving: s.saving != nil, NotSaved: s.notSaved, Lost: s.intact(),
		Unkept: s.journal.keeping.last, FailedWrites: s.journal.keeping.failed,
		Photos: s.photo, Classes: len(s.state.current()), Recent: math.NaN(),
		LeftOut: s.left.n, LeftOutRight: s.left.correct,
		Refitting: s.refit.running, RefitSeq: s.refit.seq, RefitSeconds: s.refit.duration.Seconds(),
		Problem: s.refit.err, Arranging: s.arranging.running, Arranged: s.arranging.share,
	}
	for _, p := range s.listed() {
		st.Embedded++
		if p.Shot != nil {
			st.Seen++
		}
		if p.detected() {
			st.Detected++
		}
	}
	st.Photos.Found = max(st.Photos.Found, st.Embedded)
	st.Person, st.Bulk = s.state.count(label.Person), s.state.count(label.Bulk)
	right := s.state.checked(0, "")
	st.Checked, st.Right = len(right), count(right)
	if st.Checked >= leastRecent {
		right = right[max(0, len(right)-recent):]
		st.Recent = float64(count(right)) / float64(len(right))
	}
	st.Found = advice.Expected(s.base.model)
	st.Undo, st.Redo = describeLast(s.state.done), describeLast(s.state.undone)
	var folder calibration.Folder
	st.Advice, folder = s.advise(st)
	if s.live != nil {
		st.NoThreshold, st.Folder = math.IsInf(s.live.threshold, 1), folder.N
		if share, low, high, ok := folder.Expect(); ok {
			st.Expected = &Expected{share, low, high}
		}
	}
	return st
}

// count returns how many are true.
func count(all []bool) (n int) {
	for _, ok := range all {
		if ok {
			n++
		}
	}
	return n
}

// advise returns what to do next, and the labels that the model would give (Status.Folder).
func (g *gallery) advise(st Status) (_ advice.Step, folder calibration.Folder) {
	t := advice.Teaching{Read: st.Embedded, Problem: st.Problem, Fitted: g.live != nil, Recent: st.Recent}
	if g.live == nil {
		return t.Next(), folder
	}
	folder = calibration.NewFolder(g.live.Predictor.Calibration)
	size := map[string]int{}
	for _, e := range g.live.have {
		size[e.Class]++
	}
	for _, class := range g.live.Classes() {
		t.Known = append(t.Known, model.ClassInfo{Name: class, Samples: size[class]})
	}
	doubtful := 0.0
	for i := range g.listed() {
		if !g.live.scored(i) {
			continue
		}
		label, by := g.label(i)
		if label != "" {
			doubtful += g.wrong(i, label, by)
			if !by.Certain() {
				t.Unchecked++
			}
			continue
		}
		if by.Aside() {
			continue
		}
		t.Open++
		if g.live.unknown(i) {
			t.Unknown++
			continue
		}
		_, p := g.live.predicted(i)
		folder.Add(p, float64(g.live.scores.photos[i].novelty))
		if g.live.scores.photos[i].prob >= advice.SureEnough {
			t.Sure++
		}
	}
	t.Doubtful = int(math.Round(doubtful))
	return t.Next(), folder
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
	case Ignore, Skip:
		return fmt.Sprintf("%s %s", l.Do, photos)
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
		return "fit the model to all decisions"
	case Save, Saved:
		return "save the model"
	}
	return "begin the journal"
}

// A ClassCount counts the photos of a class.
type ClassCount struct {
	Name string
	// Learned examples; Labelled by a person, Accepted in bulk and Predicted photos of
	// the folder; Detected ones, which are of no class of the model.
	Learned, Labelled, Accepted, Predicted, Detected int
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
		case class == "" && s.live.scored(i):
			predicted, _ := s.live.predicted(i)
			add(predicted).Predicted++
		}
	}
	return out
}
