package vargp

import (
	"context"
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// TestNetworkIsAMapOfInputs: behind a network the model is that without one, of
// inputs that went through it.
func TestNetworkIsAMapOfInputs(t *testing.T) {
	eachNetwork(t, func(t *testing.T, c Config) {
		m, old := learned(t, c)
		plain, before := withoutNetwork(t, m), withoutNetwork(t, old)
		b := someBatch
		want, _ := must.Get2(newProblem(m, old).evaluate(context.Background(), b, fixed))(t)
		b.x = mapped(t, m, b.x)
		got, _ := must.Get2(newProblem(plain, before).evaluate(context.Background(), b, fixed))(t)
		if d := math.Abs(got.loss(1) - want.loss(1)); d > 1e-9*math.Abs(want.loss(1)) {
			t.Errorf("bound %+v, with inputs from the network %+v", want, got)
		}
		if off, _ := distance(logProb(t, done(plain), b.x).Data, logProb(t, done(m), someBatch.x).Data); off > 1e-9 {
			t.Errorf("log-probabilities are off by %g", off)
		}
	})
}

func mapped(t *testing.T, m *Model, x blas64.General) blas64.General {
	t.Helper()
	return must.Get(m.net.apply(linalg.Backend{}, x))(t)
}

func withoutNetwork(t *testing.T, m *Model) *Model {
	t.Helper()
	c := m.Clone()
	c.cfg.Network, c.net, c.dim = nil, network{}, len(m.mean)-1
	for g := range c.groups {
		for i := range c.groups[g].blocks {
			b := &c.groups[g].blocks[i]
			b.z = mapped(t, m, b.z)
		}
	}
	return c
}

// TestNetworkLearns: φ changes in both of two tasks, is saved, and continues from a
// checkpoint like everything else.
func TestNetworkLearns(t *testing.T) {
	c := quick(Full, false)
	c.Network = []int{8, 4}
	m := must.Get(New(c, 2, 4, 1))(t)
	first := task(m, 20, 8, 0, 1)
	must.Do(t, m.StartAtSpread(first.X))
	if want := math.Log(linalg.Spread64(mapped(t, m, first.X))); m.mean[1] != want || len(m.mean) != 5 {
		t.Errorf("log length-scales %v, want %g", m.mean[1:], want)
	}
	start := m.Snapshot().Network
	trace := learn(t, m, first)
	if a, b := trace.Epochs[0].loss(1), trace.Epochs[len(trace.Epochs)-1].loss(1); b >= a {
		t.Errorf("the negative bound went from %g to %g", a, b)
	}
	if a := accuracy(t, m, 0, 1); a < 0.95 {
		t.Errorf("accuracy on the first task %g", a)
	}
	between := m.Snapshot().Network
	if reflect.DeepEqual(start, between) {
		t.Error("the network did not learn")
	}
	resumed := m.Clone()
	second := task(m, 20, 8, 2, 3)
	var state Checkpoint
	second.SaveEvery, second.Save = 30, func(c Checkpoint) error {
		if state.Steps > 0 {
			return nil
		}
		text, err := json.Marshal(c)
		if err != nil {
			return err
		}
		return json.Unmarshal(text, &state)
	}
	learn(t, m, second)
	second.Resume = &state
	learn(t, resumed, second)
	if !reflect.DeepEqual(m.Snapshot(), resumed.Snapshot()) || reflect.DeepEqual(between, m.Snapshot().Network) {
		t.Error("a resumed training differs, or the network did not learn the second task")
	}
	restored := must.Get(Restore(c, 2, m.Snapshot()))(t)
	if off, _ := distance(logProb(t, restored, first.X).Data, logProb(t, m, first.X).Data); off != 0 {
		t.Errorf("restored, log-probabilities are off by %g", off)
	}
}

func TestNetworkRefuses(t *testing.T) {
	c := testConfig(Full, false)
	c.Network = []int{3, 2}
	m, _ := learned(t, c)
	for name, change := range map[string]func(*Snapshot){
		"few":  func(s *Snapshot) { s.Network = s.Network[1:] },
		"many": func(s *Snapshot) { s.Network = append(s.Network, 1) },
		"none": func(s *Snapshot) { s.Network = nil },
		"NaN":  func(s *Snapshot) { s.Network[2] = math.NaN() },
	} {
		s := done(m).Snapshot()
		change(&s)
		if _, err := Restore(c, 2, s); err == nil {
			t.Errorf("%s was restored", name)
		}
	}
	for name, change := range map[string]func(*Config){
		"width": func(c *Config) { c.Network = []int{0} }, "depth": func(c *Config) { c.Network = make([]int, 20) },
		"variant": func(c *Config) { c.Variant = Global },
	} {
		bad := c
		change(&bad)
		if bad.Validate() == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}
