package calibration

import (
	"slices"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"gonum.org/v1/gonum/floats"
)

// A deal divides the examples into folds: held has the fold of each example of each
// session, −1 for one that is not left out. able counts the classes of which examples are, and
// of those of each class that are asked about: all but where there are very many.
type deal struct {
	held, group [][]int // group numbers those of a class
	parts       int
	slow        bool // the head is
	once        bool // as of Calibration
	of          map[string]int
	able        int
	asked       [][]bool
	groups      map[string]int // number of them
	classes     int
}

const (
	// mostAnswers bounds the log-probabilities that a calibration asks for, and with them its
	// cost, which is that of examples × classes: of more, every second example is asked about,
	// every third …, but of fewAsked at least.
	mostAnswers = 8 << 20
	fewAsked    = 2000
)

// splits deals single examples, and groups of like ones; these are nil if no two are alike.
func (t Task) splits() (singles deal, groups *deal, err error) {
	head, err := t.Fresh()
	if err != nil {
		return singles, nil, err
	}
	parts := Folds
	_, slow := head.(classifier.Slow)
	if slow {
		parts = slowFolds
	}
	counts, ok := head.(classifier.Counting)
	counting := ok && counts.Counting()
	if counting {
		most, _ := t.sizes()
		parts = min(parts, most)
	}
	classes := episodes.Classes(t.Sessions)
	alike, by, once := false, make([][]int, len(classes)), t.once(classes)
	dense.Parallel(len(classes), func(c int) {
		var taken []holdout.Taken
		if !once {
			taken = episodes.Taken(t.Sessions, classes[c].Examples)
		}
		by[c] = holdout.Groups(episodes.Rows(t.Sessions, classes[c].Examples), taken)
	})
	alone := make([][]int, len(classes))
	for c, of := range by {
		alone[c] = holdout.Alone(len(of))
		alike = alike || !slices.Equal(of, alone[c])
	}
	singles = t.deal(classes, alone, holdout.Folds(alone, parts, counting), parts)
	singles.slow, singles.once = slow, once
	if alike {
		d := t.deal(classes, by, holdout.Folds(by, parts, counting), parts)
		groups = &d
	}
	return singles, groups, nil
}

// once reports whether the photos of half of the classes or more were taken on one
// occasion each, so that another occasion cannot be held out.
func (t Task) once(classes []episodes.Class) bool {
	n := 0
	for _, c := range classes {
		if holdout.Once(episodes.Taken(t.Sessions, c.Examples)) {
			n++
		}
	}
	return n > 0 && 2*n >= len(classes)
}

// shared reports whether any two photos of a class were taken on one occasion.
func (t Task) shared(classes []episodes.Class) bool {
	return slices.ContainsFunc(classes, func(c episodes.Class) bool {
		return slices.Max(holdout.Occasions(episodes.Taken(t.Sessions, c.Examples))) < len(c.Examples)-1
	})
}

// deal puts the groups and folds of classes where their examples are.
func (t Task) deal(classes []episodes.Class, groups, folds [][]int, parts int) deal {
	d := deal{parts: parts, of: map[string]int{}, groups: map[string]int{}, classes: len(classes)}
	for _, session := range t.Sessions {
		n := len(session.Y)
		d.held, d.group = append(d.held, make([]int, n)), append(d.group, make([]int, n))
		d.asked = append(d.asked, make([]bool, n))
	}
	left, step := 0, t.step(1)
	for c, class := range classes {
		d.groups[class.Name] = slices.Max(groups[c]) + 1
		before := left
		for i, at := range class.Examples {
			d.group[at.Session][at.Row], d.held[at.Session][at.Row] = groups[c][i], folds[c][i]
			if folds[c][i] < 0 {
				continue
			}
			if left%step == 0 {
				d.asked[at.Session][at.Row] = true
				d.of[class.Name]++
			}
			left++
		}
		if left > before {
			d.able++
		}
	}
	return d
}

// step returns 1 if all of so many questions per example are asked, 2 if every second is, …
func (t Task) step(each int) int {
	n := 0
	for _, session := range t.Sessions {
		n += each * len(session.Y)
	}
	_, classes := t.sizes()
	most := max(fewAsked, mostAnswers/max(1, classes))
	return max(1, (n+most-1)/most)
}

// A groupTally counts the examples of each group of a class that are named right, and all.
type groupTally map[groupOf][2]int

type groupOf struct {
	class string
	group int
}

func (t groupTally) add(class string, group int, right bool) {
	n := t[groupOf{class, group}]
	if n[1]++; right {
		n[0]++
	}
	t[groupOf{class, group}] = n
}

// accuracy is the mean of those of the groups.
func (t groupTally) accuracy() float64 {
	var shares []float64
	for _, n := range t {
		shares = append(shares, float64(n[0])/float64(n[1]))
	}
	slices.Sort(shares) // the sum must not depend on the order
	return floats.Sum(shares) / float64(len(t))
}

// left returns the number of groups of each class that a fold leaves, and that of all.
func (d deal) left(f fold) map[string][2]int {
	gone := map[string]map[int]bool{}
	for i, at := range f.places {
		name := f.test.Y[i]
		if gone[name] == nil {
			gone[name] = map[int]bool{}
		}
		gone[name][d.group[at.Session][at.Row]] = true
	}
	out := map[string][2]int{}
	for name, groups := range gone {
		out[name] = [2]int{d.groups[name] - len(groups), d.groups[name]}
	}
	return out
}
