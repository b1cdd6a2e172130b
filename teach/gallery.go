package teach

import (
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/rank"
	"github.com/seed-90d10d51/pipeline/model"
)

// A gallery is the photos of the folder and what is known about them: what was decided,
// what the model says, and which are alike.
type gallery struct {
	album
	state      *state
	live       *live // nil without a model
	left       leftOut
	groups     groupingState
	events     eventsOf
	typical    typical
	layout     layout
	duplicates copying
	alikes     likeness
	arranging  arranging

	revision int
	orders   map[string]order // of this revision, by the name of their Query
}

// replace changes the live model, nil for none.
func (g *gallery) replace(l *live) {
	g.live.close()
	g.live = l
}

// touch marks a change.
func (g *gallery) touch() {
	g.revision++
	g.orders = map[string]order{}
}

// An Item is a photo and what is known about it.
type Item struct {
	Photo
	// Label was decided, or is named by the folder; "" for none.
	Label string
	By    label.By
	// Labels are those of a photo that shows several things, which has no Label.
	Labels []string
	// Rather is a class that is more probable than Label; "" if there is none, or a person
	// gave Label knowing another one, or the same.
	Rather string
	// Top are the most probable classes; nil before the photo is scored.
	Top     []classifier.Ranked
	Novelty float64
	Unknown bool
	Group   int // ID of its Group; 0 for none
	// Settles is about how many photos an answer about it would settle, in the view Check; 0 if nobody knows.
	Settles float64
	// Event is nil for a single photo. Otherwise the Item stands for all photos of an event:
	// it has the ID and name of the first one, the Label that all of them have, and the
	// probabilities of the event, if it is of one class.
	Event *Event
}

// label returns the label of photo i and who gave it; "" for none.
func (g *gallery) label(i int) (string, label.By) {
	p := g.photos[i]
	class, by := g.state.label(p.ID, p.Class)
	if by == "" && p.detected() {
		return p.Box.Category, label.Detector
	}
	return class, by
}

// decided reports whether photo i has a decision; open, whether it may need one.
func (g *gallery) decided(i int) (decided, open bool) {
	_, decided = g.state.marks[g.photos[i].ID]
	return decided, !decided && !g.photos[i].detected()
}

// doubted reports whether the label of photo i may be wrong: a person makes slips too, which only
// a model shows that has not learned them, and has the last word about a label that was there before.
func (g *gallery) doubted(i int, class string, by label.By) bool {
	if class == "" || !g.live.scored(i) {
		return false
	}
	p := g.photos[i]
	if _, judged := g.left.photos[p.ID]; by == label.Person && judged {
		return !g.state.marks[p.ID].again && !g.state.known[p.Class]
	}
	return !by.Certain()
}

// doubt returns the class that is more probable than the label of photo i, "" for none,
// and how much the label is doubted, −1 to 1. Of what the model learned it asks a model
// that did not (package rank).
func (g *gallery) doubt(i int, label string, by label.By) (rather string, doubt float64) {
	if !g.doubted(i, label, by) {
		return "", 0
	}
	rather, _ = g.live.predicted(i)
	doubt = 1
	scores := g.live.scores
	if c := slices.Index(scores.classes, label); c >= 0 {
		doubt = rank.Doubt(scores.logProb(i), c)
		out, judged := g.left.photos[g.photos[i].ID]
		if judged && slices.Contains(scores.classes, out.first) { // it may have another name now
			rather, doubt = out.first, out.doubt
		}
	}
	if rather == label {
		rather = ""
	}
	return rather, doubt
}

// wrong returns how probably the label of photo i is wrong.
func (g *gallery) wrong(i int, label string, by label.By) float64 {
	if !g.doubted(i, label, by) {
		return 0
	}
	if photo, ok := g.left.photos[g.photos[i].ID]; ok {
		return photo.wrong
	}
	c := slices.Index(g.live.scores.classes, label)
	if c < 0 {
		return 0
	}
	return g.left.noise.Wrong(g.live.scores.logProb(i), c)
}

// topClasses is the number of classes of an Item.
const topClasses = 5

// item describes photo i.
func (g *gallery) item(i int) Item {
	it := Item{Photo: g.photos[i], Group: g.groups.of[i]}
	it.Label, it.By = g.label(i)
	it.Labels = g.state.marks[it.ID].labels()
	if g.live.scored(i) {
		it.Top = g.live.scores.ranked(i, topClasses)
		it.Novelty = float64(g.live.scores.photos[i].novelty)
		it.Unknown = it.By != label.Detector && g.live.unknown(i)
		it.Rather, _ = g.doubt(i, it.Label, it.By)
	}
	return it
}

// Get returns one photo.
func (s *Session) Get(id ID) (Item, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	at, ok := s.find(id)
	if !ok {
		return Item{}, false
	}
	return s.item(at), true
}

// Score returns what the live model says of embeddings; a *Refusal if there is none.
func (s *Session) Score(x blas32.General, top int) ([]model.Judgement, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.live == nil {
		return nil, refuse(Conflict, "there is no model yet: name photos of two classes first")
	}
	return s.live.Predictor.Judge(x, top, s.live.threshold)
}
