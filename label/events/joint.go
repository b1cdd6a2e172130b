package events

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
)

const (
	// mixed is ρ, the share of events that show a second class.
	mixed = 0.05
	// decided is how probable a class is that a person decided.
	decided = 0.9999
	// least bounds what one photo can say against a class.
	least = 1e-12
)

// A Joint joins what the photos of an event tell.
type Joint struct {
	// Classes are those of the head.
	Classes []string
	// Added is that of calibration.Calibration.
	Added float64
}

// Evidence is what is known of one photo, or box, of an event.
type Evidence struct {
	LogProb []float32 // of the classes
	Decided string    // by people, "" if the model tells
}

// NewEvidence returns that of log-probabilities, and of the class that people decided.
func NewEvidence(logProb []float64, decided string) Evidence {
	e := Evidence{make([]float32, len(logProb)), decided}
	for c, v := range logProb {
		e.LogProb[c] = float32(math.Max(v, math.Log(least)))
	}
	return e
}

// A Shown class is one of an event.
type Shown struct {
	Class       string
	Probability float64
	column      int // of the class, −1 if the head does not know it
}

// Shown returns the classes that rows show together, the one that they show best or that a
// person decided first. There is at least one row.
func (j Joint) Shown(rows []Evidence) []Shown {
	var shown []Shown
	for _, r := range rows {
		if r.Decided != "" && !slices.ContainsFunc(shown, func(t Shown) bool { return t.Class == r.Decided }) {
			shown = append(shown, j.class(r.Decided))
		}
	}
	if len(shown) == 0 {
		best := floats.MaxIdx(j.sum(rows))
		shown = append(shown, Shown{Class: j.Classes[best], column: best})
	}
	limit := math.Log(math.Max(1, float64(len(j.Classes)-1)) / mixed)
	for len(shown) < len(rows) {
		class, evidence := j.contradiction(rows, shown)
		if class < 0 || evidence <= limit {
			break
		}
		shown = append(shown, Shown{Class: j.Classes[class], column: class})
	}
	j.weigh(rows, shown)
	return shown
}

// LogProb returns the log-probabilities of all classes if the rows, at least one, show a
// single one.
func (j Joint) LogProb(rows []Evidence) []float64 {
	logProb := j.sum(rows)
	floats.AddConst(-floats.LogSumExp(logProb), logProb)
	return logProb
}

func (j Joint) class(name string) Shown {
	return Shown{Class: name, column: slices.Index(j.Classes, name)}
}

// sum returns the joined log-probabilities of rows, with those of decisions.
func (j Joint) sum(rows []Evidence) []float64 {
	out, n, entropies := make([]float64, len(j.Classes)), 0, 0.0
	for _, r := range rows {
		if r.Decided != "" {
			continue
		}
		n++
		for c, v := range r.LogProb {
			p := math.Exp(float64(v))
			out[c] += p
			entropies -= p * float64(v)
		}
	}
	if n > 0 {
		floats.Scale(1/float64(n), out)
		calibration.Together(out, out, n, calibration.Adds(calibration.Apart(out, entropies, n), j.Added))
	}
	other := math.Log((1-decided)/math.Max(1, float64(len(out)-1))) - math.Log(decided)
	for _, r := range rows {
		if at := slices.Index(j.Classes, r.Decided); at >= 0 {
			floats.AddConst(other, out)
			out[at] -= other
		}
	}
	return out
}

// contradiction returns the class that most contradicts those shown, and by how much: the
// mean log-ratio of the rows that show it better.
func (j Joint) contradiction(rows []Evidence, shown []Shown) (class int, evidence float64) {
	total, n := make([]float64, len(j.Classes)), make([]int, len(j.Classes))
	for _, r := range rows {
		if r.Decided != "" {
			continue
		}
		best := r.best(shown)
		for c, v := range r.LogProb {
			if d := float64(v) - best; d > 0 {
				total[c] += d
				n[c]++
			}
		}
	}
	class = -1
	for c := range total {
		if n[c] > 0 && total[c]/float64(n[c]) > evidence {
			class, evidence = c, total[c]/float64(n[c])
		}
	}
	return class, evidence
}

// best returns the largest log-probability of the classes shown, that of a class that the
// head does not know being 0: nothing contradicts it.
func (r Evidence) best(shown []Shown) float64 {
	best := math.Inf(-1)
	for _, t := range shown {
		if t.column < 0 {
			return 0
		}
		best = math.Max(best, float64(r.LogProb[t.column]))
	}
	return best
}

// weigh sets the probability of each class, given the rows that show it best.
func (j Joint) weigh(rows []Evidence, shown []Shown) {
	parts := make([][]Evidence, len(shown))
	for _, r := range rows {
		at := nearest(shown, r.Decided, func(column int) float64 { return float64(r.LogProb[column]) })
		parts[at] = append(parts[at], r)
	}
	for i, t := range shown {
		switch sum := j.sum(parts[i]); {
		case t.column < 0:
			shown[i].Probability = decided
		case len(parts[i]) > 0:
			shown[i].Probability = math.Exp(sum[t.column] - floats.LogSumExp(sum))
		}
	}
}

// nearest returns which of the classes a row shows: the decided one, or the most probable
// of those that the head knows.
func nearest(shown []Shown, decided string, logProb func(column int) float64) (at int) {
	best := math.Inf(-1)
	for i, t := range shown {
		if t.Class == decided {
			return i
		}
		if t.column >= 0 && logProb(t.column) > best {
			at, best = i, logProb(t.column)
		}
	}
	return at
}
