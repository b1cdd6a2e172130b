package model

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/method"
)

// elongated returns n examples of each class, around means that hardly differ. Every
// class varies along directions of its own, which only some methods see.
func elongated(n int, classes ...string) Batch {
	const d = 12
	b := Batch{X: dense.New32(0, d)}
	for c, name := range classes {
		rng := rand.New(rand.NewPCG(5, uint64(c)))
		for i := range n {
			for j := range d {
				spread := 0.1
				if j%len(classes) == c {
					spread = 2
				}
				b.X.Data = append(b.X.Data, float32(1+spread*rng.NormFloat64()))
			}
			b.Labels, b.Content = append(b.Labels, name), append(b.Content, Hash{byte(c), byte(i), 1})
		}
	}
	b.X.Rows = len(b.Labels)
	return b
}

func chosen(t *testing.T, b Batch) *Model {
	t.Helper()
	m, _ := must.Get2(Train(context.Background(), settings(method.Auto), b))(t)
	return m
}

// TestAutoIsTheChosenMethodGiven: auto finds a method that the data favour, and the
// model is that of this method given; later sessions keep it.
func TestAutoIsTheChosenMethodGiven(t *testing.T) {
	b := elongated(15, "ant", "bee", "cat", "dog")
	var told []string
	s := settings(method.Auto)
	s.Comparing = func(methods int) (step, finish func()) {
		told = append(told, fmt.Sprint(methods))
		return func() { told = append(told, "done") }, func() { told = append(told, "end") }
	}
	m, _, err := Train(context.Background(), s, b)
	if err != nil || m.Method != "ppca" && m.Method != "plda+" {
		t.Fatalf("%v, chose %+v", err, m)
	}
	if !slices.Equal(told, []string{"5", "done", "done", "done", "done", "done", "end"}) {
		t.Errorf("progress %v", told)
	}
	if len(m.Choice.Trials) != len(method.Candidates()) || !strings.HasPrefix(m.Choice.Why, m.Method+": ") {
		t.Errorf("%+v", m.Choice)
	}
	path, choice := filepath.Join(t.TempDir(), "m"), m.Choice
	save(t, m, path)
	back := mustLoad(t, path)
	if !reflect.DeepEqual(back.Choice, choice) || !reflect.DeepEqual(chosen(t, b).Choice, choice) {
		t.Error("the choice differs after loading, or in a second run")
	}
	given, _ := must.Get2(Train(context.Background(), settings(m.Method), b))(t)
	later := elongated(2, "ewe", "fox")
	for _, each := range []*Model{m, back, given} {
		learn(t, each, later)
	}
	if m.Method != given.Method || !reflect.DeepEqual(logProb(t, m, b), logProb(t, given, b)) ||
		!reflect.DeepEqual(logProb(t, back, b), logProb(t, m, b)) {
		t.Error("the model is not that of the method given")
	}
	if !reflect.DeepEqual(m.Choice, choice) {
		t.Error("a later session changed the choice")
	}
	warm := settings(method.Auto)
	warm.Temperature.Temperature = 1
	if m, _, err := Train(context.Background(), warm, b); err != nil || m.Method != given.Method ||
		m.Predictor.Temperature != nil {
		t.Errorf("with a temperature given: %v", err)
	}
}

// TestAutoAsksOnlyAboutHeldOut: with labels that mean nothing no method does better
// than chance. One that had learned what it is asked about would know it by heart.
func TestAutoAsksOnlyAboutHeldOut(t *testing.T) {
	b := elongated(12, "ant", "bee", "cat", "dog", "eel")
	rng := rand.New(rand.NewPCG(9, 9))
	for i := range b.X.Data {
		b.X.Data[i] = float32(rng.NormFloat64())
	}
	m := chosen(t, b)
	for _, trial := range m.Choice.Trials {
		if trial.Accuracy > 0.4 {
			t.Errorf("%s names %.0f %% of noise correctly, of five classes", trial.Method, 100*trial.Accuracy)
		}
	}
	if m.Method != method.Default {
		t.Errorf("on noise, %s", m.Choice.Why)
	}
}

// TestAutoForgets: what was measured on forgotten images is forgotten, the method
// stays.
func TestAutoForgets(t *testing.T) {
	b := elongated(15, "ant", "bee", "cat", "dog")
	m := chosen(t, b)
	kind, first := m.Method, Batch{X: dense.Rows32(b.X, 0, 1), Labels: b.Labels[:1], Content: b.Content[:1]}
	must.Get(m.ForgetSamples(context.Background(), first, Forgetting{}))(t)
	if m.Method != kind || m.Choice != nil {
		t.Errorf("%s, chosen by %+v", m.Method, m.Choice)
	}
}

// TestAutoByRule: with too little to hold out, the default is trained.
func TestAutoByRule(t *testing.T) {
	for want, b := range map[string]Batch{
		"fewer than 12":  elongated(11, "ant", "bee", "cat"),
		"a single class": elongated(15, "ant"),
	} {
		if m := chosen(t, b); m.Method != method.Default || !strings.Contains(m.Choice.Why, want) ||
			m.Choice.Trials != nil {
			t.Errorf("%s: %s, %+v", want, m.Method, m.Choice)
		}
	}
	m, err := New(settings(method.Auto))
	if err != nil || m.Method != method.Default || m.Choice == nil {
		t.Errorf("before any image: %v", err)
	}
}

func TestAutoStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := Train(ctx, settings(method.Auto), elongated(12, "ant", "bee")); !errors.Is(err, context.Canceled) {
		t.Errorf("after cancelling: %v", err)
	}
}

// TestReplacing: a method is replaced only for two standard errors, by one that was
// asked about as many parts.
func TestReplacing(t *testing.T) {
	best := contending(0.5, 0.6, 0.5, 0.6)
	for _, c := range []struct {
		parts []float64
		want  bool
	}{
		{[]float64{0.6, 0.7, 0.6, 0.71}, true},
		{[]float64{0.5, 0.6, 0.5, 0.6}, false},
		{[]float64{0.9, 0.5, 0.4, 0.8}, false}, // more accurate, by chance
		{[]float64{0.4, 0.5, 0.4, 0.5}, false},
		{[]float64{0.9, 0.9, 0.9}, false},
		{nil, false},
	} {
		if trial, sure := contending(c.parts...).against(best); sure != c.want {
			t.Errorf("%v: %+v", c.parts, trial)
		}
	}
}

func contending(parts ...float64) contender {
	p := &Predictor{}
	p.Calibration.Parts = slices.Clone(parts)
	return contender{model: &Model{Method: "plda", Predictor: p}}
}

// Two methods are compared on the same examples: where groups of like examples matter to
// one of them, both with these held out whole.
func TestComparesTheSameParts(t *testing.T) {
	best, next := contending(0.9, 0.9, 0.9), contending(0.99, 0.99, 0.99)
	best.model.Predictor.Calibration.Apart = []float64{0.8, 0.81, 0.8}
	next.model.Predictor.Calibration.Apart = []float64{0.7, 0.71, 0.72}
	if trial, sure := next.against(best); !sure || trial.Accuracy < 0.98 {
		t.Errorf("groups that matter to neither: %+v", trial)
	}
	best.model.Predictor.Calibration.Elsewhere = 0.8
	if trial, sure := next.against(best); sure || trial.Accuracy > 0.72 || trial.Gain > 0 {
		t.Errorf("groups that matter to one: %+v", trial)
	}
}
