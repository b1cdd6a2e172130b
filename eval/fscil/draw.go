package fscil

import "fmt"

// FewShot draws a protocol from a pool: a base session of baseClasses with all
// their training images, then sessions of ways new classes with shots training
// images each, until no class is left (the last session takes what remains).
// The same seed and run give the same protocol.
func (p *Pool) FewShot(baseClasses, ways, shots int, seed uint64, run int) (*Protocol, error) {
	if baseClasses < 1 || ways < 1 || shots < 1 {
		return nil, fmt.Errorf("few-shot: %d base classes, %d ways, %d shots: each must be at least 1", baseClasses, ways, shots)
	}
	if len(p.classes) <= baseClasses {
		return nil, fmt.Errorf("few-shot: %d classes are no more than the %d of the base session (fscil.base_classes)", len(p.classes), baseClasses)
	}
	classes, train, test := p.draw(seed, run)
	for _, c := range classes[baseClasses:] {
		if len(train[c]) < shots {
			return nil, fmt.Errorf("few-shot: class %s has %d training images, fewer than %d shots", c, len(train[c]), shots)
		}
		train[c] = train[c][:shots]
	}
	sessions := []Session{sessionOf(classes[:baseClasses], train, test)}
	for first := baseClasses; first < len(classes); first += ways {
		sessions = append(sessions, sessionOf(classes[first:min(first+ways, len(classes))], train, test))
	}
	return New(sessions)
}

// ClassIncremental draws Wang's protocol from a pool: half of the classes in
// random order, then steps sessions of equal size (±1) with the others, all
// with all their training images.
func (p *Pool) ClassIncremental(steps int, seed uint64, run int) (*Protocol, error) {
	base := (len(p.classes) + 1) / 2
	novel := len(p.classes) - base
	if steps < 1 || novel < steps {
		return nil, fmt.Errorf("class-incremental: %d classes cannot make a base session of %d and %d steps (fscil.steps)", len(p.classes), base, steps)
	}
	classes, train, test := p.draw(seed, run)
	sessions := []Session{sessionOf(classes[:base], train, test)}
	for s := range steps {
		from, to := base+novel*s/steps, base+novel*(s+1)/steps
		sessions = append(sessions, sessionOf(classes[from:to], train, test))
	}
	return New(sessions)
}

func sessionOf(classes []string, train, test map[string][]Sample) Session {
	var s Session
	for _, c := range classes {
		s.Train = append(s.Train, train[c]...)
		s.Test = append(s.Test, test[c]...)
	}
	return s
}
