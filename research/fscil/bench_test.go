package fscil

import (
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func run(t *testing.T, s *scene) (*Bench, Run) {
	t.Helper()
	p := must.Get(New(s.sessions))(t)
	e := must.Get(NewEmbeddings(s.x, s.paths, s.content))(t)
	b := must.Get(p.Bind(e))(t)
	r := must.Get(b.Run(context.Background(), newOracle, nil))(t)
	return b, r
}

// TestMeasuresByHand compares with the oracle's answers, counted by hand.
//
//	after      a/8 a/9 b/8 b/9 | c/8 c/9 | d/8
//	session 1   ✓   ✓   ✓   ✗
//	session 2   ✓   ✗   ✓   ✗  |  ✓   ✗
//	session 3   ✓   ✗   ✓   ✗  |  ✓   ✗  |  ✓
func TestMeasuresByHand(t *testing.T) {
	_, r := run(t, threeSessions())
	tasks := [][]float64{{3. / 4}, {2. / 4, 1. / 2}, {2. / 4, 1. / 2, 1}}
	if got := r.tasks(); !reflect.DeepEqual(got, tasks) {
		t.Errorf("tasks %v, want %v", got, tasks)
	}
	for i, want := range []struct {
		classes                                     int
		accuracy, base, novel, harmonic, forgetting float64
	}{
		{2, 3. / 4, 3. / 4, math.NaN(), math.NaN(), 0},
		{3, 3. / 6, 2. / 4, 1. / 2, 1. / 2, 1. / 4},
		{4, 4. / 7, 2. / 4, 2. / 3, 4. / 7, (1./4 + 0) / 2},
	} {
		m := r.Sessions[i]
		if m.Session != i+1 || m.Classes != want.classes || !near(m.Accuracy, want.accuracy) ||
			!near(m.Base, want.base) || !near(m.Forgetting, want.forgetting) {
			t.Errorf("session %d: %+v, want %+v", i+1, m, want)
		}
		if i == 0 {
			if m.Novel != nil || m.Harmonic != nil {
				t.Errorf("session 1 has novel classes: %+v", m)
			}
			continue
		}
		if !near(*m.Novel, want.novel) || !near(*m.Harmonic, want.harmonic) {
			t.Errorf("session %d: novel %v, harmonic %v", i+1, *m.Novel, *m.Harmonic)
		}
	}
	// Three right at 0.8, one wrong whose truth has the other 0.2.
	if want := -(3*math.Log(0.8) + math.Log(0.2)) / 4; !near(r.Sessions[0].NLLNats, want) {
		t.Errorf("nll %v, want %v", r.Sessions[0].NLLNats, want)
	}
	if want := 0.8 - 0.75; !near(r.Sessions[0].ECE, want) {
		t.Errorf("ece %v, want %v", r.Sessions[0].ECE, want)
	}
	if want := []float64{0.5, 0.5, 0.5, 1}; !reflect.DeepEqual(r.Sessions[2].PerClass, want) {
		t.Errorf("per class %v, want %v", r.Sessions[2].PerClass, want)
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-12 }

func TestSummaryByHand(t *testing.T) {
	_, first := run(t, threeSessions())
	s := threeSessions()
	s.x.Data[2*2] = 1 // a/8 is taken for b from now on
	_, second := run(t, s)
	r := must.Get(Summarise(Info{Dataset: "d", Method: "m", Backbone: "b", Track: Foundation}, []Run{first, second}))(t)
	// Accuracies 3/4, 1/2, 4/7 and 2/4, 2/6, 3/7.
	wants := []float64{(3./4 + 2./4) / 2, (1./2 + 2./6) / 2, (4./7 + 3./7) / 2}
	for i, want := range wants {
		if got := r.Sessions[i].Accuracy; !near(got, want) {
			t.Errorf("session %d: %v, want %v", i+1, got, want)
		}
	}
	// The SEM of two values is half their distance.
	if got := *r.Sessions[2].AccuracySEM; !near(got, 1./14) {
		t.Errorf("sem %v, want %v", got, 1./14)
	}
	if !near(r.AverageAccuracy, (wants[0]+wants[1]+wants[2])/3) || !near(r.FinalAccuracy, wants[2]) ||
		!near(r.PerformanceDrop, wants[0]-wants[2]) {
		t.Errorf("average %v, final %v, drop %v", r.AverageAccuracy, r.FinalAccuracy, r.PerformanceDrop)
	}
	if _, err := Summarise(Info{}, nil); err == nil {
		t.Error("no runs were summarised")
	}
	if _, err := Summarise(Info{}, []Run{first, {Sessions: first.Sessions[:2]}}); err == nil {
		t.Error("runs of different length were summarised")
	}
}

func TestForgettingByHand(t *testing.T) {
	// Task 1 rises to 0.9 before it falls to 0.5; task 2 gains; the maximum
	// excludes the last session.
	tasks := [][]float64{{0.8}, {0.9, 0.4}, {0.5, 0.6, 1}}
	if got, want := forgetting(tasks), ((0.9-0.5)+(0.4-0.6))/2; !near(got, want) {
		t.Errorf("forgetting %v, want %v", got, want)
	}
	for _, few := range [][][]float64{nil, {{1}}} {
		if got := forgetting(few); got != 0 {
			t.Errorf("forgetting of %v is %v", few, got)
		}
	}
	if harmonicMean(0, 1) != 0 || !near(harmonicMean(0.5, 1), 2./3) {
		t.Error("harmonic mean")
	}
}

// TestHeadSeesOneSessionAtATime: rows come in the order of the sessions, and
// never a test row.
func TestHeadSeesOneSessionAtATime(t *testing.T) {
	s := threeSessions()
	p := must.Get(New(s.sessions))(t)
	e := must.Get(NewEmbeddings(s.x, s.paths, s.content))(t)
	b := must.Get(p.Bind(e))(t)
	head := &oracle{}
	must.Get(b.Run(context.Background(), func() (classifier.Learner, error) { return head, nil }, nil))(t)
	if want := [][]float32{{0, 1}, {6}, {9}}; !reflect.DeepEqual(head.taught, want) {
		t.Errorf("taught rows %v, want %v", head.taught, want)
	}
	if _, err := b.Run(context.Background(), func() (classifier.Learner, error) { return head, nil }, nil); err == nil {
		t.Error("a head that has learned something was taken again")
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := b.Run(cancelled, newOracle, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v after the end of the context", err)
	}
}

func TestBindNamesWhatIsMissing(t *testing.T) {
	s := threeSessions()
	p := must.Get(New(s.sessions))(t)
	s.x.Rows = 5
	e := must.Get(NewEmbeddings(s.x, s.paths[:5], s.content[:5]))(t)
	var missing *MissingError
	if _, err := p.Bind(e); !errors.As(err, &missing) || missing.Path != s.paths[5] || missing.Count != len(s.paths)-5 {
		t.Errorf("error %v", err)
	}
}

func TestEmbeddingsAreFoundByTheEndOfTheirPath(t *testing.T) {
	s := &scene{}
	for _, p := range []string{"/root/train/x/1.jpg", "/root/test/x/1.jpg", "y/2.jpg"} {
		s.put(p, 0)
	}
	e := must.Get(NewEmbeddings(s.x, s.paths, s.content))(t)
	for path, want := range map[string]int{"train/x/1.jpg": 0, "root/test/x/1.jpg": 1, "y/2.jpg": 2, "2.jpg": 2,
		"/root/train/x/1.jpg": 0} {
		if got, err := e.find(path); err != nil || got != want {
			t.Errorf("%s: row %d, %v; want %d", path, got, err, want)
		}
	}
	for path, want := range map[string]string{"x/1.jpg": "several", "in/x/1.jpg": "no embedding",
		"z/y/2.jpg": "no embedding", "": "no embedding"} {
		if _, err := e.find(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", path, err, want)
		}
	}
	if _, err := NewEmbeddings(s.x, []string{"a", "b", "a"}, s.content); err == nil {
		t.Error("two rows of one path were taken")
	}
	if _, err := NewEmbeddings(s.x, s.paths[:2], s.content); err == nil {
		t.Error("rows without a path were taken")
	}
}
