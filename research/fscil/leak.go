package fscil

import (
	"fmt"
	"iter"
	"slices"
)

// A LeakError reports that a protocol would let a head see what it must not.
type LeakError struct {
	// Path is the image, Class its class.
	Path, Class string
	// Problem says what is wrong with it.
	Problem string
}

func (e *LeakError) Error() string {
	return fmt.Sprintf("leak: %s (class %s) %s", e.Path, e.Class, e.Problem)
}

// A use is the place of an image or a class in a protocol.
type use struct {
	session int
	test    bool
}

func (u use) String() string {
	if u.test {
		return fmt.Sprintf("the test images of session %d", u.session+1)
	}
	return fmt.Sprintf("the training images of session %d", u.session+1)
}

func (p *Protocol) all() iter.Seq2[Sample, use] {
	return func(yield func(Sample, use) bool) {
		for i, s := range p.sessions {
			for test, samples := range [][]Sample{s.Train, s.Test} {
				for _, x := range samples {
					if !yield(x, use{session: i, test: test == 1}) {
						return
					}
				}
			}
		}
	}
}

// check refuses a class in two sessions and an image in two places.
func (p *Protocol) check() error {
	home := map[string]int{}
	for i, classes := range p.classes {
		for _, c := range classes {
			if first, twice := home[c]; twice {
				k := slices.IndexFunc(p.sessions[i].Train, func(x Sample) bool { return x.Class == c })
				return &LeakError{Path: p.sessions[i].Train[k].Path, Class: c,
					Problem: fmt.Sprintf("belongs to a class of session %d and is learned in session %d", first+1, i+1)}
			}
			home[c] = i
		}
	}
	seen, tested := map[string]use{}, map[string]bool{}
	for x, u := range p.all() {
		if x.Path == "" || x.Class == "" {
			return fmt.Errorf("protocol: %s: an image without a path or a class (%q, %q)", u, x.Path, x.Class)
		}
		if first, twice := seen[x.Path]; twice && first == u {
			return fmt.Errorf("protocol: %s occurs twice among %s", x.Path, first)
		} else if twice {
			return &LeakError{Path: x.Path, Class: x.Class, Problem: fmt.Sprintf("is among %s and among %s", first, u)}
		}
		seen[x.Path] = u
		if at, ok := home[x.Class]; !ok || at != u.session {
			return &LeakError{Path: x.Path, Class: x.Class,
				Problem: fmt.Sprintf("is among %s, which brings no such class", u)}
		}
		tested[x.Class] = tested[x.Class] || u.test
	}
	for c, at := range home {
		if !tested[c] {
			return fmt.Errorf("protocol: class %s of session %d has no test image", c, at+1)
		}
	}
	return nil
}

// Duplicates counts images with the same content under several paths. A pair
// counts once, at its later image.
type Duplicates struct {
	// TestLearned counts test images that equal a training image of any
	// session.
	TestLearned int `json:"test_images_learned"`
	// TwoClasses counts images that equal one of another class.
	TwoClasses int `json:"images_of_two_classes"`
	// LearnedBefore counts training images that equal one of another session.
	LearnedBefore int `json:"training_images_of_two_sessions"`
	// Example names a pair.
	Example string `json:"example"`
}

// Any reports whether there are any.
func (d Duplicates) Any() bool { return d != Duplicates{} }

// duplicates compares contents. In a drawn protocol a test image that equals a
// training image is a leak.
func (p *Protocol) duplicates(content func(path string) [32]byte) (Duplicates, error) {
	type place struct {
		Sample
		use
	}
	var d Duplicates
	seen := map[[32]byte][]place{}
	for x, u := range p.all() {
		h := content(x.Path)
		var learned, classes, before int
		for _, other := range seen[h] {
			if other.test != u.test {
				learned = 1
			}
			if other.Class != x.Class {
				classes = 1
			}
			if !u.test && !other.test && other.session != u.session {
				before = 1
			}
			d.Example = fmt.Sprintf("%s = %s", other.Path, x.Path)
			if !p.given && learned+before > 0 {
				return d,
					&LeakError{Path: x.Path, Class: x.Class,
						Problem: fmt.Sprintf("is among %s and has the same content as %s, which is among %s", u,
							other.Path, other.use)}
			}
		}
		seen[h] = append(seen[h], place{x, u})
		d.TestLearned, d.TwoClasses, d.LearnedBefore = d.TestLearned+learned, d.TwoClasses+classes, d.LearnedBefore+
			before
	}
	return d, nil
}
