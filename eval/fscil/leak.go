package fscil

import "fmt"

// A LeakError says that a protocol would let a head see what it must not.
type LeakError struct {
	// Path is the image, Class its class.
	Path, Class string
	// Problem says what is wrong with it.
	Problem string
}

func (e *LeakError) Error() string {
	return fmt.Sprintf("leak: %s (class %s) %s", e.Path, e.Class, e.Problem)
}

// A use is where an image or a class stands in a protocol.
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

// each visits every image with its use, in order.
func (p *Protocol) each(do func(Sample, use) error) error {
	for i, s := range p.sessions {
		for _, x := range s.Train {
			if err := do(x, use{session: i}); err != nil {
				return err
			}
		}
		for _, x := range s.Test {
			if err := do(x, use{session: i, test: true}); err != nil {
				return err
			}
		}
	}
	return nil
}

// check refuses a class in two sessions and an image in two places.
func (p *Protocol) check() error {
	home := map[string]int{}
	for i, classes := range p.classes {
		for _, c := range classes {
			if first, twice := home[c]; twice {
				return &LeakError{Path: p.firstOf(c, i).Path, Class: c, Problem: fmt.Sprintf("belongs to a class of session %d and is learned in session %d", first+1, i+1)}
			}
			home[c] = i
		}
	}
	seen, tested := map[string]use{}, map[string]bool{}
	err := p.each(func(x Sample, u use) error {
		if x.Path == "" || x.Class == "" {
			return fmt.Errorf("protocol: %s: an image without a path or a class (%q, %q)", u, x.Path, x.Class)
		}
		if first, twice := seen[x.Path]; twice {
			return clash(x, first, u)
		}
		seen[x.Path] = u
		if at, ok := home[x.Class]; !ok || at != u.session {
			return &LeakError{Path: x.Path, Class: x.Class, Problem: fmt.Sprintf("is among %s, which brings no such class", u)}
		}
		tested[x.Class] = tested[x.Class] || u.test
		return nil
	})
	if err != nil {
		return err
	}
	for c, at := range home {
		if !tested[c] {
			return fmt.Errorf("protocol: class %s of session %d has no test image", c, at+1)
		}
	}
	return nil
}

func clash(x Sample, first, second use) error {
	if first == second {
		return fmt.Errorf("protocol: %s is twice among %s", x.Path, first)
	}
	return &LeakError{Path: x.Path, Class: x.Class, Problem: fmt.Sprintf("is among %s and among %s", first, second)}
}

func (p *Protocol) firstOf(class string, session int) Sample {
	for _, x := range p.sessions[session].Train {
		if x.Class == class {
			return x
		}
	}
	return Sample{}
}

// Duplicates counts images of the same content under several paths. A pair
// counts once, at its later image.
type Duplicates struct {
	// TestLearned counts test images that equal a training image, of whatever
	// session.
	TestLearned int `json:"test_images_learned"`
	// TwoClasses counts images that equal one of another class.
	TwoClasses int `json:"images_of_two_classes"`
	// LearnedBefore counts training images that equal one of another session.
	LearnedBefore int `json:"training_images_of_two_sessions"`
	// Example names a pair.
	Example string `json:"example"`
}

// Any says whether there are any.
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
	err := p.each(func(x Sample, u use) error {
		h := content(x.Path)
		var learned, classes, before bool
		for _, other := range seen[h] {
			learned = learned || other.test != u.test
			classes = classes || other.Class != x.Class
			before = before || !u.test && !other.test && other.session != u.session
			d.Example = fmt.Sprintf("%s = %s", other.Path, x.Path)
			if !p.given && (learned || before) {
				return &LeakError{Path: x.Path, Class: x.Class, Problem: fmt.Sprintf("is among %s and has the same content as %s, which is among %s", u, other.Path, other.use)}
			}
		}
		seen[h] = append(seen[h], place{x, u})
		count(&d.TestLearned, learned)
		count(&d.TwoClasses, classes)
		count(&d.LearnedBefore, before)
		return nil
	})
	return d, err
}

func count(n *int, yes bool) {
	if yes {
		*n++
	}
}
