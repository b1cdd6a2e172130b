package events

import (
	"context"
	"slices"

	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/label"
)

// Fitted are Groups whose classes are known.
type Fitted struct {
	*Groups
	joint Joint
	left  map[*Event]int
}

// Fit scores all rows once and finds the classes of each event. added is that of
// calibration.Calibration. The scorer is that which labels. Memory: the
// log-probabilities of the photos of events that are not complete, in the order of rows.
func (g *Groups) Fit(ctx context.Context, scorer label.Scorer, rows embedding.Rows, added float64) (*Fitted, error) {
	f := &Fitted{Groups: g, joint: Joint{scorer.Head.Classes(), added}, left: map[*Event]int{}}
	for _, e := range g.Events {
		if f.left[e] = e.Rows; e.Rows == 0 {
			e.addLabel(label.EmptyPhoto)
		}
	}
	scorer.TopK = 1
	_, err := label.Pass{Scorer: scorer, Rows: rows, Sinks: []label.Sink{f}}.Run(ctx)
	return f, err
}

// Put implements label.Sink.
func (f *Fitted) Put(row label.Scored) error {
	e := f.EventOf(row.Sample.File())
	if e == nil {
		return nil
	}
	e.seen++
	if row.By == label.Person {
		e.judged++
	}
	switch {
	case row.By == label.Detector:
		e.addLabel(row.Prediction.Label)
	case row.SetAside(), row.Rejected:
	default:
		e.found = append(e.found, NewEvidence(row.LogProb, decidedClass(row)))
	}
	if f.left[e]--; f.left[e] == 0 {
		f.conclude(e)
	}
	return nil
}

// decidedClass returns the class of a photo that somebody looked at, "" for another. What
// was accepted in bulk is what the model said.
func decidedClass(row label.Scored) string {
	if row.By == label.Person || row.By == label.List {
		return row.Prediction.Label
	}
	return ""
}

// Commit implements label.Sink: it concludes events of which a photo could not be read.
func (f *Fitted) Commit(embedding.Outcome) error {
	for _, e := range f.Events {
		if f.left[e] > 0 {
			f.conclude(e)
		}
	}
	return nil
}

// Abort implements label.Sink.
func (f *Fitted) Abort() {}

// Judged reports whether a person decided about every photo of the event that could be read.
func (e *Event) Judged() bool { return e.seen > 0 && e.judged == e.seen }

// Probability returns that of a label given all photos, false if a detector gave it.
func (e *Event) Probability(label string) (p float64, ok bool) {
	at := slices.IndexFunc(e.shown, func(s Shown) bool { return s.Class == label })
	if at < 0 {
		return 0, false
	}
	return e.shown[at].Probability, true
}

// Counts reports whether the event is one of a survey: a photo of it could be read, or a
// detector found nothing in it. One without Labels then shows no known class.
func (e *Event) Counts() bool { return e.seen > 0 || e.Rows == 0 }

func (e *Event) addLabel(name string) {
	if at, ok := slices.BinarySearch(e.Labels, name); !ok {
		e.Labels = slices.Insert(e.Labels, at, name)
	}
}

// conclude finds the classes of an event, and frees what they follow from.
func (f *Fitted) conclude(e *Event) {
	if len(e.found) > 0 {
		e.shown = f.joint.Shown(e.found)
		for _, t := range e.shown {
			e.addLabel(t.Class)
		}
	}
	e.found = nil
}

// Of returns what is known about the event of a row, for label.Scorer.
func (f *Fitted) Of(row label.Scored) *label.Event {
	e := f.EventOf(row.Sample.File())
	if e == nil {
		return nil
	}
	out := &label.Event{Name: e.Name}
	shown := e.shown
	switch {
	case row.By == label.Detector:
		out.Label, out.Probability = row.Prediction.Label, row.Prediction.Probability
	case len(shown) > 0 && !row.SetAside():
		t := shown[nearest(shown, decidedClass(row), func(column int) float64 { return row.LogProb[column] })]
		out.Label, out.Probability = t.Class, t.Probability
	}
	return out
}
