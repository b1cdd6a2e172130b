package events

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/label"
)

const (
	// mixed is ρ, the share of events that show a second class.
	mixed = 0.05
	// decided is how probable a class is that a person decided.
	decided = 0.9999
)

// A found row is what is known of one photo, or box, of an event.
type found struct {
	logProb []float32 // of the classes
	decided string    // by people, "" if the model tells
}

// Fitted are Groups whose classes are known.
type Fitted struct {
	*Groups
	classes []string
	added   float64 // as in calibration.Calibration
	left    map[*Event]int
	told    map[*Event][]told
}

// told is a class of an event with its probability.
type told struct {
	class       string
	column      int // of the class, −1 if the head does not know it
	probability float64
}

// Fit scores all rows once and finds the classes of each event. added is that of
// calibration.Calibration. The scorer is that which labels. Memory: the
// log-probabilities of the photos of events that are not complete, in the order of rows.
func (g *Groups) Fit(ctx context.Context, scorer label.Scorer, rows embed.Rows, added float64) (*Fitted, error) {
	f := &Fitted{Groups: g, classes: scorer.Head.Classes(), added: added, left: map[*Event]int{},
		told: map[*Event][]told{}}
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
	switch {
	case row.By == label.Detector:
		e.addLabel(row.Prediction.Label)
	case row.SetAside(), row.Rejected:
	default:
		r := found{logProb: make([]float32, len(row.LogProb))}
		for j, v := range row.LogProb {
			r.logProb[j] = float32(math.Max(v, math.Log(least)))
		}
		r.decided = decidedClass(row)
		e.found = append(e.found, r)
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

// least bounds what one photo can say against a class.
const least = 1e-12

// Commit implements label.Sink: it concludes events of which a photo could not be read.
func (f *Fitted) Commit(embed.Outcome) error {
	for _, e := range f.Events {
		if f.left[e] > 0 {
			f.conclude(e)
		}
	}
	return nil
}

// Abort implements label.Sink.
func (f *Fitted) Abort() {}

func (e *Event) addLabel(name string) {
	if at, ok := slices.BinarySearch(e.Labels, name); !ok {
		e.Labels = slices.Insert(e.Labels, at, name)
	}
}

// conclude finds the classes of an event, and frees what they follow from.
func (f *Fitted) conclude(e *Event) {
	if len(e.found) > 0 {
		f.told[e] = f.classesOf(e.found)
		for _, t := range f.told[e] {
			e.addLabel(t.class)
		}
	}
	e.found = nil
}

// classesOf returns the classes that rows show together.
func (f *Fitted) classesOf(rows []found) []told {
	var shown []told
	for _, r := range rows {
		if r.decided != "" && !slices.ContainsFunc(shown, func(t told) bool { return t.class == r.decided }) {
			shown = append(shown, f.class(r.decided))
		}
	}
	if len(shown) == 0 {
		best := floats.MaxIdx(f.sum(rows))
		shown = append(shown, told{class: f.classes[best], column: best})
	}
	limit := math.Log(math.Max(1, float64(len(f.classes)-1)) / mixed)
	for len(shown) < len(rows) {
		class, evidence := f.contradiction(rows, shown)
		if class < 0 || evidence <= limit {
			break
		}
		shown = append(shown, told{class: f.classes[class], column: class})
	}
	f.weigh(rows, shown)
	return shown
}

func (f *Fitted) class(name string) told {
	return told{class: name, column: slices.Index(f.classes, name)}
}

// sum returns the joined log-probabilities of rows, with those of decisions.
func (f *Fitted) sum(rows []found) []float64 {
	out, n := make([]float64, len(f.classes)), 0
	for _, r := range rows {
		if r.decided == "" {
			n++
			for j, v := range r.logProb {
				out[j] += math.Exp(float64(v))
			}
		}
	}
	if n > 0 {
		floats.Scale(1/float64(n), out)
		calibration.Together(out, out, n, f.added)
	}
	other := math.Log((1-decided)/math.Max(1, float64(len(out)-1))) - math.Log(decided)
	for _, r := range rows {
		if at := slices.Index(f.classes, r.decided); at >= 0 {
			floats.AddConst(other, out)
			out[at] -= other
		}
	}
	return out
}

// weightOf returns the weight of each of n rows in a sum of evidence: together they count as
// 1 + (n − 1)·added.
func (f *Fitted) weightOf(n int) float64 { return (1 + float64(n-1)*f.added) / float64(n) }

// contradiction returns the class that most contradicts those shown, and by how much: the
// log-ratio of the rows that show it better, joined.
func (f *Fitted) contradiction(rows []found, shown []told) (class int, evidence float64) {
	total, n := make([]float64, len(f.classes)), make([]int, len(f.classes))
	for _, r := range rows {
		if r.decided != "" {
			continue
		}
		best := r.best(shown)
		for j, v := range r.logProb {
			if d := float64(v) - best; d > 0 {
				total[j] += d
				n[j]++
			}
		}
	}
	class = -1
	for j := range total {
		if n[j] > 0 && f.weightOf(n[j])*total[j] > evidence {
			class, evidence = j, f.weightOf(n[j])*total[j]
		}
	}
	return class, evidence
}

// best returns the largest log-probability of the classes shown, that of a class that the
// head does not know being 0: nothing contradicts it.
func (r found) best(shown []told) float64 {
	best := math.Inf(-1)
	for _, t := range shown {
		if t.column < 0 {
			return 0
		}
		best = math.Max(best, float64(r.logProb[t.column]))
	}
	return best
}

// weigh sets the probability of each class, given the rows that show it best.
func (f *Fitted) weigh(rows []found, shown []told) {
	parts := make([][]found, len(shown))
	for _, r := range rows {
		at := nearest(shown, r.decided, func(column int) float64 { return float64(r.logProb[column]) })
		parts[at] = append(parts[at], r)
	}
	for i, t := range shown {
		switch sum := f.sum(parts[i]); {
		case t.column < 0:
			shown[i].probability = decided
		case len(parts[i]) > 0:
			shown[i].probability = math.Exp(sum[t.column] - floats.LogSumExp(sum))
		}
	}
}

// nearest returns which of the classes a row shows: the decided one, or the most probable
// of those that the head knows.
func nearest(shown []told, decided string, logProb func(column int) float64) (at int) {
	best := math.Inf(-1)
	for i, t := range shown {
		if t.class == decided {
			return i
		}
		if t.column >= 0 && logProb(t.column) > best {
			at, best = i, logProb(t.column)
		}
	}
	return at
}

// Of returns what is known about the event of a row, for label.Scorer.
func (f *Fitted) Of(row label.Scored) *label.Event {
	e := f.EventOf(row.Sample.File())
	if e == nil {
		return nil
	}
	out := &label.Event{Name: e.Name}
	shown := f.told[e]
	switch {
	case row.By == label.Detector:
		out.Label, out.Probability = row.Prediction.Label, row.Prediction.Probability
	case len(shown) > 0 && !row.SetAside():
		t := shown[nearest(shown, decidedClass(row), func(column int) float64 { return row.LogProb[column] })]
		out.Label, out.Probability = t.class, t.probability
	}
	return out
}
