package teach

import (
	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/model/account"
)

// account returns the account of the photos of the folder.
func (g *gallery) account(st Status) account.Account {
	now := account.Situation{Read: st.Embedded, Problem: st.Problem, Named: st.Classes, Kind: g.kind()}
	var held calibration.Calibration
	var classes []string
	if g.live != nil {
		held, classes, now.Known = g.live.Predictor.Calibration, g.live.scores.classes, g.live.sizes()
	}
	if len(held.Confusions) == 0 { // as of a model of 0.2 with a class of many photos
		held.Confusions = g.confusions()
	}
	tally, doubts := account.NewTally(held, classes), account.NewDoubts(g.left.noise)
	read, waiting := 0, 0
	for i, p := range g.listed() {
		tally.Rest(0, p.Copies, 0)
		read += 1 + p.Copies
		class, by := g.label(i)
		switch {
		case by != "":
			tally.Decide(by.Who(), class)
			if g.doubted(i, class, by) {
				doubts.Add(g.wrong(i, class, by))
			}
		case g.live.scored(i):
			row := g.live.scores.photos[i]
			tally.Label(int(row.first), float64(row.prob), float64(row.novelty), g.live.unknown(i))
		default:
			waiting++
		}
	}
	tally.Rest(st.Photos.Failed, 0, waiting+max(0, st.Photos.Found-read-st.Photos.Failed))
	tally.Doubt(doubts)
	tally.Measure(g.state.measured())
	return tally.Account(now)
}

// confusions counts the examples that models which had not learned them took for another class.
func (g *gallery) confusions() []calibration.Confusion {
	times, of := map[[2]string]int{}, map[string]int{}
	for id, photo := range g.left.photos {
		class, _ := g.state.label(id, "")
		if of[class]++; class != photo.first {
			times[[2]string{class, photo.first}]++
		}
	}
	return calibration.Confusions(times, of)
}

// sizes counts the examples of each class.
func (l *live) sizes() (sizes []model.ClassInfo) {
	size := map[string]int{}
	for _, e := range l.have {
		size[e.Class]++
	}
	for _, class := range l.Classes() {
		sizes = append(sizes, model.ClassInfo{Name: class, Samples: size[class]})
	}
	return sizes
}

// measured returns what the photos tell that were drawn at random, as widely as the last ones, and decided one by one
// since. Those that somebody chose tell nothing of others.
func (s *state) measured() *account.Measured {
	above := -1.0
	for _, l := range s.lines {
		if l.Do == SpotCheck && l.Class == "" {
			above = l.P
		}
	}
	if above < 0 {
		return nil
	}
	n, right, _ := s.spotChecks(above, "", 0)
	return account.Measure(right, n, above)
}
