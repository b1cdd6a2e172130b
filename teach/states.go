package teach

// A State is what was decided about a photo.
type State string

// The states: by whom a photo has its label, as what it was set aside, and what the model says of the others.
const (
	ByPerson   State = "person"
	ByBulk     State = "bulk"
	ByList     State = "list" // or by its folder
	ByDetector State = "detector"
	Unusable   State = "unusable"
	Mixed      State = "several"
	Later      State = "later"
	ByModel    State = "model"
	LooksNew   State = "unknown"
	// Unreadable is a file of which there is no photo: Session has none.
	Unreadable State = "unreadable"
)

// States are all states, in the order of account.Who, then those of photos that nobody has decided.
var States = []State{ByPerson, ByBulk, ByList, ByDetector, Unusable, Mixed, Later, ByModel, LooksNew, Unreadable}

// stateOf returns the state of photo i.
func (g *gallery) stateOf(i int) State {
	_, by := g.label(i)
	switch {
	case by != "":
		return States[by.Who()]
	case g.live.scored(i) && g.live.unknown(i):
		return LooksNew
	}
	return ByModel
}

// probable reports whether the likeliest class of photo i has a probability that is asked for.
func (g *gallery) probable(q Query, i int) bool {
	if q.Least == 0 && q.Most == 0 {
		return true
	}
	if !g.live.scored(i) {
		return false
	}
	_, p := g.live.predicted(i)
	return p >= q.Least && (q.Most == 0 || p <= q.Most)
}

// takenFor reports whether photo i, which is of another class, is taken for one by a model that has not learned it.
func (g *gallery) takenFor(class string, i int) bool {
	if own, _ := g.label(i); own == class || own == "" {
		return false
	}
	if out, judged := g.left.photos[g.photos[i].ID]; judged {
		return out.first == class
	}
	if !g.live.scored(i) {
		return false
	}
	first, _ := g.live.predicted(i)
	return first == class
}
