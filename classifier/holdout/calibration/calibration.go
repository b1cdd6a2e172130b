package calibration

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
)

// MaxPerClass is the largest number of examples of a class that is calibrated
// by leaving examples out.
const MaxPerClass = 20

// A Source says how examples were held out.
type Source string

// The sources; none means that nothing was held out.
const (
	None           Source = ""
	LeftOut        Source = "left out"
	PseudoSessions Source = "pseudo-sessions"
	Simulated      Source = "simulated"
)

// A Calibration is what held-out examples tell about a head.
type Calibration struct {
	Source Source `json:"source,omitempty"`
	// Samples is the number of held-out examples, each counted once.
	Samples int `json:"samples,omitempty"`
	// Accuracy is the share of examples that the head is expected to name
	// correctly, 0 to 1, if they are like those that it learned. With pseudo-sessions it
	// is that of base classes.
	Accuracy float64 `json:"accuracy,omitempty"`
	// Elsewhere is that of examples that are less alike, such as those of another
	// occasion; 0 if no two examples that were learned are alike.
	Elsewhere float64 `json:"elsewhere,omitempty"`
	// Understated is by how much more often examples like those learned are named correctly
	// than their probabilities say, which are those of Elsewhere; 0 without it.
	Understated float64 `json:"understated,omitempty"`
	// Once reports that the photos of half of the classes or more were taken on one occasion
	// each: nothing is known about photos of another.
	Once bool `json:"once,omitempty"`
	// Parts holds the accuracy of each fold, or of each pseudo-session: the mean of
	// those of base and of later classes. They tell whether one head does better
	// than another on the same examples.
	Parts []float64 `json:"parts,omitempty"`
	// Apart holds the same with groups of like examples held out whole; nil if no two are
	// alike.
	Apart []float64 `json:"apart,omitempty"`
	// Weak lists up to ten classes of which half or more of the left-out examples
	// were named wrongly, worst first.
	Weak []string `json:"weak,omitempty"`
	// Confusions lists up to ten pairs of classes that were confused most often,
	// worst first. With pseudo-sessions each example counts where it is held out first.
	Confusions []Confusion `json:"confusions,omitempty"`
	// Added tells how much each further one of like examples, such as photos of one event, adds
	// to what the first shows, 0 to 1 (Adds); 0 if there are too few groups of like
	// examples to tell.
	Added float64 `json:"added,omitempty"`
	// Novelty holds the thresholds for unknown classes.
	Novelty
}

// A Confusion counts the left-out examples of Class that were named As.
type Confusion struct {
	Class string `json:"class"`
	As    string `json:"as"`
	Count int    `json:"count"`
	// Of is the number of left-out examples of Class.
	Of int `json:"of"`
}

// maxConfusions bounds the confusions that are recorded.
const maxConfusions = 10

// A Task is what there is to calibrate from.
type Task struct {
	// Sessions are what the head has learned, in order: the rows that it learns
	// from, and their classes.
	Sessions []episodes.Episode
	// Embeddings are those that the first session was projected from; pseudo-
	// sessions are drawn from them, so that a projection does not change the
	// draw. An empty matrix stands for the first session itself.
	Embeddings blas32.General
	// Fresh returns unfitted heads with the settings of the calibrated one.
	Fresh func() (classifier.Learner, error)
	// Seed is the seed of pseudo-sessions.
	Seed uint64
}

// Fit calibrates a head. If there is too little to calibrate from, the
// temperature is 1 and says why. Cost: three times Folds fits, or five for pseudo-sessions, and
// the scores of n·C answers, of at most 8 million of them or 2000 examples, so that with thousands
// of classes it grows with n and C, not with their product.
func Fit(ctx context.Context, t Task) (*temperature.Value, Calibration, error) {
	most, classes := t.sizes()
	if len(t.Sessions) == 1 && most > MaxPerClass {
		v, c, err := pseudoSessions(ctx, t)
		if little := (*episodes.TooLittleError)(nil); !errors.As(err, &little) {
			return v, c, err
		}
	}
	if classes < 2 {
		const reason = "there is only one class"
		return &temperature.Value{T: 1, Fallback: reason}, Calibration{Novelty: Novelty{Reason: reason}}, nil
	}
	return leftOut(ctx, t)
}

// sizes returns the size of the largest class, and the number of classes.
func (t Task) sizes() (most, classes int) {
	count := map[string]int{}
	for _, s := range t.Sessions {
		for _, y := range s.Y {
			count[y]++
		}
	}
	for _, n := range count {
		most = max(most, n)
	}
	return most, len(count)
}

// weak returns the classes of which half or more of the examples were named
// wrongly.
func weak(wrong map[[2]string]int, of map[string]int) []string {
	missed := map[string]int{}
	for pair, n := range wrong {
		missed[pair[0]] += n
	}
	var out []string
	for name, n := range missed {
		if 2*n >= of[name] {
			out = append(out, name)
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		return cmp.Or(cmp.Compare(missed[b]*of[a], missed[a]*of[b]), cmp.Compare(a, b))
	})
	return out[:min(len(out), maxConfusions)]
}

// Confusions returns the pairs of a class and a wrong name, which wrong counts, worst first. Of counts the examples of
// each class.
func Confusions(wrong map[[2]string]int, of map[string]int) []Confusion {
	var out []Confusion
	for pair, n := range wrong {
		out = append(out, Confusion{Class: pair[0], As: pair[1], Count: n, Of: of[pair[0]]})
	}
	slices.SortFunc(out, func(a, b Confusion) int {
		return cmp.Or(cmp.Compare(b.Count*a.Of, a.Count*b.Of), cmp.Compare(b.Count, a.Count),
			cmp.Compare(a.Class, b.Class), cmp.Compare(a.As, b.As))
	})
	return out
}

// confused has the worst of what was named wrongly, and the classes of which much was.
func (c *Calibration) confused(wrong map[[2]string]int, of map[string]int) {
	all := Confusions(wrong, of)
	c.Confusions, c.Weak = all[:min(len(all), maxConfusions)], weak(wrong, of)
}
