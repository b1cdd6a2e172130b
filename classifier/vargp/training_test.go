package vargp_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/vargp"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// memory is a checkpoint that fails at one of its saves.
type memory struct {
	kept  map[string]classifier.State
	notes []string
	saves int
	last  int // 0: never
}

var errBroken = errors.New("the machine was switched off")

func (m *memory) Load(_, key string) (classifier.State, bool) {
	s, ok := m.kept[key]
	return s, ok
}

func (m *memory) Save(_, key string, s classifier.State) error {
	m.saves++
	m.kept[key] = copyOf(s)
	if m.saves == m.last {
		return errBroken
	}
	return nil
}

func (m *memory) Note(message string, args ...any) {
	m.notes = append(m.notes, message+fmt.Sprint(args...))
}

func copyOf(s classifier.State) classifier.State {
	out := classifier.State{Settings: slices.Clone(s.Settings), Tensors: map[string]classifier.Tensor{}}
	for name, t := range s.Tensors {
		t.F64 = slices.Clone(t.F64)
		out.Tensors[name] = t
	}
	return out
}

func state(t *testing.T, h *vargp.VARGP) classifier.State {
	t.Helper()
	return must.Get(h.Save())(t)
}

// TestGoesOnWhereItWasStopped stops training at any save of either session; a
// new head with the same checkpoint reaches the same state as one that was not
// stopped, and as one without a checkpoint.
func TestGoesOnWhereItWasStopped(t *testing.T) {
	cfg := short(func(c *vargp.Config) { c.Epochs = 50 })
	sessions := [][]string{{"a", "b"}, {"c"}}
	follow := func(j classifier.Checkpoint) (*vargp.VARGP, error) {
		h := must.Get(vargp.New(cfg))(t)
		if j != nil {
			h.UseCheckpoint(j)
		}
		for _, classes := range sessions {
			x, y := blobs(12, classes...)
			if err := h.Learn(context.Background(), x, y); err != nil {
				return h, err
			}
		}
		return h, nil
	}
	plain := must.Get(follow(nil))(t)
	want := state(t, plain)
	whole := &memory{kept: map[string]classifier.State{}}
	if _, err := follow(whole); err != nil || whole.saves < 4 || len(whole.kept) != 2 {
		t.Fatalf("%d saves of %d trainings, %v", whole.saves, len(whole.kept), err)
	}
	for last := 1; last <= whole.saves; last++ {
		j := &memory{kept: map[string]classifier.State{}, last: last}
		if _, err := follow(j); !errors.Is(err, errBroken) {
			t.Fatalf("stopped at save %d: %v", last, err)
		}
		j.last = 0
		h, err := follow(j)
		if err != nil || !reflect.DeepEqual(state(t, h), want) {
			t.Errorf("stopped at save %d: training gave a different result, %v", last, err)
		}
		if !slices.ContainsFunc(j.notes, func(s string) bool { return strings.HasPrefix(s, "training goes on") }) {
			t.Errorf("stopped at save %d: notes %q", last, j.notes)
		}
	}
}

// TestKeysKeepTrainingsApart checks that other settings or other examples give
// another key.
func TestKeysKeepTrainingsApart(t *testing.T) {
	j := &memory{kept: map[string]classifier.State{}}
	for i, c := range []struct {
		seed uint64
		n    int
	}{{1, 12}, {1, 12}, {2, 12}, {1, 11}} {
		h := must.Get(vargp.New(short(func(v *vargp.Config) { v.Seed, v.Epochs = c.seed, 2 })))(t)
		h.UseCheckpoint(j)
		x, y := blobs(c.n, "a", "b")
		must.Do(t, h.Learn(context.Background(), x, y))
		if want := []int{1, 1, 2, 3}[i]; len(j.kept) != want {
			t.Errorf("%d training runs are stored, want %d", len(j.kept), want)
		}
	}
}
