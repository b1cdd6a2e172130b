package account_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/labelnoise"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/model/account"
)

// held is a calibration of a hundred photos in which novelty tells new classes well: it is above 0 for these.
func held(accuracy float64) calibration.Calibration {
	return calibration.Calibration{Source: calibration.LeftOut, Samples: 100, Accuracy: accuracy,
		Novelty: calibration.Novelty{Unseen: &calibration.Unseen{Slope: 10}}}
}

// A scene is what a tally is given: photos of two classes, of which so many are unknown and the others have
// a label with a probability.
type scene struct {
	labelled, unknown, list, person int
	p                               float64
	wrong                           float64 // of each label of the list
	now                             account.Situation
}

func (s scene) account() account.Account {
	t := account.NewTally(held(0.9), []string{"cat", "dog"})
	for range s.labelled {
		t.Label(0, s.p, -1, false)
	}
	for range s.unknown {
		t.Label(1, s.p, 1, true)
	}
	d := account.NewDoubts(labelnoise.Noise{Share: 0.1, Low: 0.05, High: 0.2})
	for range s.list {
		t.Decide(account.List, "cat")
		d.Add(s.wrong)
	}
	for range s.person {
		t.Decide(account.Person, "dog")
	}
	t.Doubt(d)
	return t.Account(s.now)
}

// TestNext: each figure leads to its step, in this order.
func TestNext(t *testing.T) {
	ready := scene{labelled: 36, unknown: 4, list: 20, p: 0.8, wrong: 0.1, now: account.Situation{Read: 60,
		Known: []model.ClassInfo{{Name: "cat", Samples: 3}, {Name: "dog", Samples: 8}}}}
	for _, c := range []struct {
		name   string
		change func(*scene)
		do     string
		words  string
	}{
		{"nothing read", func(s *scene) { s.now.Read, s.now.Known = 0, nil }, "wait", "being read"},
		{"no model could be made", func(s *scene) { s.now.Problem = errors.New("no memory") }, "wait", "no memory"},
		{"no model", func(s *scene) { s.now.Known = nil }, "start", "two classes"},
		{"few photos", func(s *scene) { s.now.Known[0].Samples = 2 }, "more", "of cat: the model knows 2"},
		{"a tenth unknown", func(*scene) {}, "check", "least certain"},
		{"more unknown", func(s *scene) { s.unknown = 5 }, "unknown", "5 photos"},
		{"doubt and nothing open", func(s *scene) { s.labelled, s.unknown = 0, 0 }, "suspicious", "2 labels"},
		{"nothing open", func(s *scene) { *s = scene{person: 9, now: s.now} }, "stop", "Every photo"},
		{"nothing open, not all looked at", func(s *scene) { s.labelled, s.unknown, s.wrong = 0, 0, 0.001 },
			"suspicious", "nobody has looked at 20"},
		{"good and sure", func(s *scene) { s.p = 0.999 }, "accept", "the 36 photos above 95 %"},
		{"not good", func(s *scene) { s.p = 0.94 }, "check", "least certain"},
	} {
		s := ready
		s.now.Known = append([]model.ClassInfo{}, ready.now.Known...)
		c.change(&s)
		if got := s.account().Next; got.Do != c.do || !strings.Contains(got.Text, c.words) {
			t.Errorf("%s: %+v, want %s with %q", c.name, got, c.do, c.words)
		}
	}
}
