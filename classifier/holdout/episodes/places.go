package episodes

import (
	"maps"
	"slices"

	"github.com/seed-90d10d51/pipeline/classifier/holdout"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// A Place is that of an example in several sessions: its session and its row.
type Place struct{ Session, Row int }

// A Class is a class of several sessions, and where its examples are, in canonical order
// (holdout.Order).
type Class struct {
	Name     string
	Examples []Place
}

// Classes returns the classes of sessions in the order of their names.
func Classes(sessions []Episode) []Class {
	byClass := map[string][]Place{}
	for s, session := range sessions {
		for i, y := range session.Y {
			byClass[y] = append(byClass[y], Place{s, i})
		}
	}
	var out []Class
	for _, name := range slices.Sorted(maps.Keys(byClass)) {
		c := Class{Name: name}
		for _, i := range holdout.Order(Rows(sessions, byClass[name])) {
			c.Examples = append(c.Examples, byClass[name][i])
		}
		out = append(out, c)
	}
	return out
}

// Rows returns the examples at the given places.
func Rows(sessions []Episode, places []Place) [][]float32 {
	out := make([][]float32, len(places))
	for i, at := range places {
		out[i] = dense.Row32(sessions[at.Session].X, at.Row)
	}
	return out
}

// Taken returns when and with which camera the photos at the given places were taken.
func Taken(sessions []Episode, places []Place) []holdout.Taken {
	out := make([]holdout.Taken, len(places))
	for i, at := range places {
		out[i] = sessions[at.Session].TakenAt(at.Row)
	}
	return out
}

// Without divides a session, of which held has the fold of each example, into the rest and
// what a fold leaves out, whose rows are left.
func (s Episode) Without(held []int, fold int) (rest, test Episode, left []int) {
	var kept []int
	for i, at := range held {
		if at == fold {
			left = append(left, i)
		} else {
			kept = append(kept, i)
		}
	}
	return s.Pick(kept), s.Pick(left), left
}
