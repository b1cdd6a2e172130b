package teach

import (
	"iter"
	"slices"
)

// A stack is a list of decisions that shares all but its last with the one before, so that
// every state of the past can be kept; nil is empty.
type stack struct {
	last   Line
	before *stack
}

func (s *stack) push(l Line) *stack { return &stack{l, s} }

// down yields the decisions, the last one first.
func (s *stack) down() iter.Seq[Line] {
	return func(yield func(Line) bool) {
		for ; s != nil && yield(s.last); s = s.before {
		}
	}
}

// force returns the decisions in force after some: instead of a Back and all before it,
// those in force after its line.
func (s *state) force(done *stack) []Line {
	var out []Line
	for ; done != nil; done = done.before {
		if done.last.Do == Back {
			done = &stack{before: s.after[done.last.Of-1]}
			continue
		}
		out = append(out, done.last)
	}
	slices.Reverse(out)
	return out
}
