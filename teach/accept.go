package teach

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/stat/combin"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/label"
)

// The share of photos that is taken to be of classes that nobody has named: at the least,
// to expect, and at the most. Nothing that the model has learned tells it.
const (
	fewNew  = 0.05
	someNew = 0.25
	manyNew = 0.5
)

// An Acceptance is what accepting predictions does.
type Acceptance struct {
	Images int
	// Wrong of the predictions are to be expected wrong, Low to High in 19 of 20 cases.
	Wrong, Low, High float64
	// Checked photos were drawn at random from such predictions and decided since, and of
	// Correct the prediction was right. Without any, Wrong is what the model expects.
	Checked, Correct int
	// Drawn are the photos that were drawn and wait for a decision.
	Drawn []ID
}

// An offer is the predictions that are accepted at once.
type offer struct {
	images  []ID
	classes []string
	// prob has the probability of each, novelty the novelty of its photo.
	prob, novelty []float64
}

// acceptable returns the photos without a label, and not unknown, that are predicted with
// at least a probability, of those that a query selects by class, name, folder and time.
// An unknown photo may have a high probability: that says only which class it is least unlike.
func (g *gallery) acceptable(above float64, q Query) (o offer) {
	for i, p := range g.listed() {
		if label, by := g.label(i); label != "" || by.Aside() || !g.live.scored(i) || g.live.unknown(i) {
			continue
		}
		predicted, prob := g.live.predicted(i)
		if prob < above || !g.selects(q, i) {
			continue
		}
		o.images, o.classes = append(o.images, p.ID), append(o.classes, predicted)
		o.prob, o.novelty = append(o.prob, prob), append(o.novelty, float64(g.live.scores.photos[i].novelty))
	}
	return o
}

// expected returns how many of the predictions are wrong as far as the model can tell: each
// is right with its probability, unless the photo is of a class that nobody has named.
func (o offer) expected(unseen *calibration.Unseen) (wrong, low, high float64) {
	at := func(share float64) (wrong, variance float64) {
		for i, p := range o.prob {
			if unseen != nil {
				p *= 1 - unseen.P(o.novelty[i], share)
			}
			wrong, variance = wrong+1-p, variance+p*(1-p)
		}
		return wrong, variance
	}
	n := float64(len(o.images))
	edge := func(share, side float64) float64 {
		wrong, variance := at(share)
		return min(max(wrong+side*1.96*math.Sqrt(variance+n*n*calibration.FolderError*calibration.FolderError), 0), n)
	}
	wrong, _ = at(someNew)
	return wrong, edge(fewNew, -1), edge(manyNew, 1)
}

// checked returns how many of n predictions are wrong, after k of m others that were drawn
// from the same ones were. The interval is exact: it has all numbers of wrong ones among the n + m with which a draw
// without replacement has k or more, and k or fewer, with a probability over 2.5 %.
func checked(n, m, k int) (wrong, low, high float64) {
	// With more wrong ones k or more become more probable, and k or fewer less.
	lowest := sort.Search(n, func(left int) bool { return drawn(n+m, k+left, m, k, m) > 0.025 })
	highest := n - sort.Search(n, func(right int) bool { return drawn(n+m, k+n-right, m, 0, k) > 0.025 })
	low, high = float64(lowest), float64(max(highest, lowest))
	return min((float64(k)+0.5)/(float64(m)+1)*float64(n), high), low, high
}

// drawn returns the probability of at least low and at most high wrong ones among m that are drawn from n without
// replacement, of which some are wrong.
func drawn(n, wrong, m, low, high int) (p float64) {
	choose := func(n, k int) float64 { return combin.LogGeneralizedBinomial(float64(n), float64(k)) }
	for k := max(low, m-(n-wrong), 0); k <= min(high, wrong, m); k++ {
		p += math.Exp(choose(wrong, k) + choose(n-wrong, m-k) - choose(n, m))
	}
	return p
}

// Acceptable tells what Accept would do. What was checked counts only where nothing but the class narrows the query:
// it was drawn from all.
func (s *Session) Acceptable(above float64, q Query) Acceptance {
	s.mu.RLock()
	defer s.mu.RUnlock()
	o := s.acceptable(above, q)
	a := Acceptance{Images: len(o.images)}
	if q == (Query{Class: q.Class}) {
		a.Checked, a.Correct, a.Drawn = s.state.spotChecks(above, q.Class, s.state.lastAccept())
	}
	switch {
	case a.Images == 0:
	case a.Checked > 0:
		a.Wrong, a.Low, a.High = checked(a.Images, a.Checked, a.Checked-a.Correct)
	default:
		a.Wrong, a.Low, a.High = o.expected(s.live.Predictor.Calibration.Unseen)
	}
	return a
}

// lastAccept returns the last line that accepted predictions, 0 for none.
func (s *state) lastAccept() (seq int) {
	for _, l := range s.inForce {
		if l.Do == Accept {
			seq = l.Seq
		}
	}
	return seq
}

// spotChecks returns what was found of the photos that were drawn at random from such
// predictions, after a line: how many were decided by a person, of how many the prediction
// was right, and which wait.
func (s *state) spotChecks(above float64, class string, since int) (n, right int, wait []ID) {
	for _, l := range s.lines {
		if l.Do != SpotCheck || l.Seq < since || l.P != above || l.Class != "" && l.Class != class {
			continue
		}
		for i, id := range l.Images {
			predicted := s.nameSince(l.Classes[i], l.Seq)
			m, decided := s.marks[id]
			switch {
			case class != "" && predicted != class:
			case !decided || m.by == label.Skipped:
				wait = append(wait, id)
			case m.by == label.Person || m.by == label.Ignored: // what is of no class was predicted wrongly
				if n++; m.class() == predicted {
					right++
				}
			}
		}
	}
	return n, right, wait
}

// nameSince returns what a class is called that had a name when line seq was written.
func (s *state) nameSince(class string, seq int) string {
	for _, l := range s.inForce {
		if l.Seq > seq && (l.Do == Rename || l.Do == Merge) && l.Class == class {
			class = l.To
		}
	}
	return class
}

// SpotCheck draws n photos at random from those that Accept would label, to be decided one
// by one; those drawn before that wait are among them. They tell how many of the rest are right.
func (s *Session) SpotCheck(above float64, class string, n int) ([]ID, error) {
	if err := checkAbove(above); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.acceptable(above, Query{Class: class})
	_, _, drawn := s.state.spotChecks(above, class, s.state.lastAccept())
	offered := make(map[ID]bool, len(o.images))
	for _, id := range o.images {
		offered[id] = true
	}
	var wait []ID // some may look unknown now, or have left the folder
	for _, id := range drawn {
		if offered[id] && len(wait) < n {
			wait = append(wait, id)
			delete(offered, id)
		}
	}
	if len(o.images) == 0 {
		return nil, nothingOffered()
	}
	l := Line{Decision: Decision{Do: SpotCheck, Class: class}, P: above}
	order := random.Stream(uint64(len(s.state.lines)), "teach/spot check").Perm(len(o.images))
	for _, i := range order {
		if id := o.images[i]; offered[id] && len(wait)+len(l.Images) < n {
			l.Images, l.Classes = append(l.Images, id), append(l.Classes, o.classes[i])
		}
	}
	if len(l.Images) > 0 {
		if _, err := s.append(l); err != nil {
			return nil, err
		}
	}
	return append(wait, l.Images...), nil
}

func checkAbove(above float64) error {
	if !(above >= 0 && above <= 1) {
		return refuse(Invalid, "above is %v: it is a probability from 0 to 1", above)
	}
	return nil
}

func nothingOffered() error {
	return refuse(Conflict, "no photo without a label is predicted with that probability")
}

// Accept labels every photo without a label that is not unknown and whose most probable
// class has at least a probability, of those that a query selects by class, name, folder and time.
func (s *Session) Accept(above float64, q Query) (Line, error) {
	if err := checkAbove(above); err != nil {
		return Line{}, err
	}
	return s.decide(func() (Line, error) {
		o := s.acceptable(above, q)
		if len(o.images) == 0 {
			return Line{}, nothingOffered()
		}
		return Line{Decision: Decision{Do: Accept, Images: o.images, Class: q.Class}, Classes: o.classes}, nil
	})
}

// acceptedBy returns the photos that have their label from the line seq, which accepted them, in
// its order. A *Refusal says that there are none.
func (s *state) acceptedBy(seq int) (ids []ID, err error) {
	if seq < 1 || seq > len(s.lines) || s.lines[seq-1].Do != Accept {
		return nil, refuse(Unknown, "line %d of the history accepted nothing", seq)
	}
	for _, id := range s.lines[seq-1].Images {
		if m := s.marks[id]; m.by == label.Bulk && m.seq == seq {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil, refuse(Conflict, "nothing is left of what line %d of the history accepted", seq)
	}
	return ids, nil
}
