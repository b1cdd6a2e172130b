package fscil

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestLeaksAreErrors covers every way in which a head could see what it must
// not.
func TestLeaksAreErrors(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*scene)
		leak  string // the image that the error names, "" for another error
		words string
	}{
		"a test image is learned": {
			func(s *scene) { s.at(0).Train = append(s.at(0).Train, s.at(0).Test[0]) }, "a/8", "session 1",
		},
		"a test image is learned in a later session": {
			func(s *scene) { s.at(2).Train = append(s.at(2).Train, Sample{"a/8", "d"}) }, "a/8", "session 3",
		},
		"a class comes twice": {
			func(s *scene) { s.train(2, "c/5") }, "c/5", "session 2",
		},
		"a novel image before its session": {
			func(s *scene) { s.at(0).Train = append(s.at(0).Train, Sample{"d/1", "a"}) }, "d/1", "session 1",
		},
		"a novel class before its session": {
			func(s *scene) { s.at(0).Train = append(s.at(0).Train, Sample{"d/1", "d"}) }, "d/1", "session 1",
		},
		"a test image of a class that comes later": {
			func(s *scene) { s.test(0, "d/7", 0) }, "d/7", "session 1",
		},
		"a test image of no class": {
			func(s *scene) { s.test(0, "x/7", 0) }, "x/7", "session 1",
		},
		"an image of two names in one session": {
			func(s *scene) { s.at(0).Train = append(s.at(0).Train, Sample{"a/1", "b"}) }, "", "twice",
		},
		"a class without test images": {
			func(s *scene) { s.train(1, "e/1") }, "", "no test image",
		},
		"no class":           {func(s *scene) { s.at(0).Train[0].Class = "" }, "", "without a path or a class"},
		"no training images": {func(s *scene) { s.at(1).Train = nil }, "", "session 2"},
		"no test images":     {func(s *scene) { s.at(1).Test = nil }, "", "session 2"},
		"no sessions":        {func(s *scene) { s.sessions = nil }, "", "no sessions"},
	} {
		t.Run(name, func(t *testing.T) {
			s := threeSessions()
			c.spoil(s)
			p, err := New(s.sessions)
			if err == nil || !strings.Contains(err.Error(), c.words) {
				t.Fatalf("%v, error %v, want %q", p, err, c.words)
			}
			var leak *LeakError
			if errors.As(err, &leak) != (c.leak != "") || leak != nil && leak.Path != c.leak {
				t.Errorf("error %v, want a leak of %q", err, c.leak)
			}
		})
	}
}

// TestCopiesLeakToo: an image under another name is still the same image.
func TestCopiesLeakToo(t *testing.T) {
	for name, c := range map[string]struct {
		path, like string
		leak       bool
		want       Duplicates
	}{
		"a test image among the training images": {"b/8", "a/1", true,
			Duplicates{TestLearned: 1, TwoClasses: 1, Example: "a/1 = b/8"}},
		"a novel image in the base session": {"d/1", "a/1", true,
			Duplicates{LearnedBefore: 1, TwoClasses: 1, Example: "a/1 = d/1"}},
		"a tested image is learned later": {"d/1", "a/8", true,
			Duplicates{TestLearned: 1, TwoClasses: 1, Example: "a/8 = d/1"}},
		"two test images": {"a/9", "a/8", false, Duplicates{Example: "a/8 = a/9"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := threeSessions()
			for i, p := range s.paths {
				if p == c.path {
					s.content[i] = s.content[indexOf(s.paths, c.like)]
				}
			}
			e := must.Get(NewEmbeddings(s.x, s.paths, s.content))(t)
			drawn := must.Get(New(s.sessions))(t)
			var leak *LeakError
			if _, err := drawn.Bind(e); errors.As(err, &leak) != c.leak || c.leak && leak.Path != c.path {
				t.Errorf("drawn: error %v", err)
			}
			published := must.Get(given(s.sessions))(t)
			b, err := published.Bind(e)
			if err != nil || b.Duplicates() != c.want {
				t.Errorf("published: %+v, %v; want %+v", b.Duplicates(), err, c.want)
			}
		})
	}
}

func indexOf(paths []string, path string) int {
	for i, p := range paths {
		if p == path {
			return i
		}
	}
	return -1
}

// TestProtocolIsFrozen: changing the caller's slices does not change the
// protocol.
func TestProtocolIsFrozen(t *testing.T) {
	s := threeSessions()
	p := must.Get(New(s.sessions))(t)
	s.sessions[0].Train[0] = Sample{"d/8", "d"}
	p.Classes(0)[0] = "x"
	p.Samples()[0] = Sample{}
	if got := p.Samples()[0]; got.Path != "a/1" || p.Classes(0)[0] != "a" || p.Sessions() != 3 {
		t.Errorf("the protocol changed: %v", got)
	}
}
