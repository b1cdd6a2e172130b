package dkl_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/dkl"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func TestHeadRoundTrip(t *testing.T) {
	for name, v := range variants {
		h := newHead(t, v.in, v.cfg)
		scatter(h.Theta(), 1, 8)
		state := saved(t, h)
		back, err := dkl.Load(state)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(back, h) {
			t.Errorf("%s: differs after a round trip", name)
		}
		back.Theta()[0]++
		if !reflect.DeepEqual(saved(t, h), state) {
			t.Errorf("%s: two heads share their parameters", name)
		}
	}
}

func TestTensorNamesAndShapes(t *testing.T) {
	want := map[string][]int{
		"hidden.weight": {7, 6}, "hidden.bias": {7}, "out.weight": {3, 7}, "out.bias": {3}, "skip.weight": {3, 6},
	}
	got := map[string][]int{}
	for name, tensor := range saved(t, newHead(t, 6, dkl.Config{Dim: 3, Hidden: 7, Residual: true})).Tensors {
		got[name] = tensor.Shape
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("tensors %v, want %v", got, want)
	}
}

// damage returns the state with each of its parts broken in turn.
func damage(state classifier.State) map[string]classifier.State {
	out := map[string]classifier.State{
		"no settings": {Tensors: state.Tensors},
		"empty":       {Settings: []byte("{}"), Tensors: state.Tensors},
		"not JSON":    {Settings: []byte("{"), Tensors: state.Tensors},
		"no tensors":  {Settings: state.Settings},
	}
	for name, tensor := range state.Tensors {
		for how, broken := range map[string]classifier.Tensor{
			"gone":    {},
			"short":   {Shape: tensor.Shape, F64: tensor.F64[1:]},
			"shape":   {Shape: append([]int{1}, tensor.Shape...), F64: tensor.F64},
			"NaN":     {Shape: tensor.Shape, F64: append([]float64{math.NaN()}, tensor.F64[1:]...)},
			"float32": {Shape: tensor.Shape, F32: make([]float32, len(tensor.F64))},
		} {
			tensors := maps.Clone(state.Tensors)
			tensors[name] = broken
			out[name+" "+how] = classifier.State{Settings: state.Settings, Tensors: tensors}
		}
	}
	return out
}

func TestLoadRefusesDamage(t *testing.T) {
	for _, v := range variants {
		for name, state := range damage(saved(t, newHead(t, v.in, v.cfg))) {
			if _, err := dkl.Load(state); err == nil {
				t.Errorf("head of %+v, %s: loaded", v.cfg, name)
			}
		}
	}
}

// Settings that promise more than the tensors hold must fail before anything of
// that size is allocated.
func TestLoadRefusesHugeSettings(t *testing.T) {
	huge := `{"config":{"dim":%d,"hidden":%d,"residual":%t},"in":%d}`
	for _, text := range []string{
		fmt.Sprintf(huge, 4096, 0, false, 65536), fmt.Sprintf(huge, 65536, 65536, true, 65536),
		fmt.Sprintf(huge, math.MaxInt64, 0, false, 5), fmt.Sprintf(huge, 5, -4, false, 5),
		fmt.Sprintf(huge, 5, 0, true, 4), fmt.Sprintf(huge, 5, 0, false, -5),
	} {
		state := saved(t, newHead(t, 5, dkl.Config{Dim: 5}))
		state.Settings = []byte(text)
		if _, err := dkl.Load(state); err == nil {
			t.Errorf("%s: loaded", text)
		}
	}
}

func FuzzLoad(f *testing.F) {
	for _, v := range variants {
		h := must.Get(dkl.New(v.in, v.cfg))(f)
		state := must.Get(h.Save())(f)
		tensors := must.Get(json.Marshal(state.Tensors))(f)
		f.Add(state.Settings, tensors)
	}
	f.Fuzz(func(t *testing.T, settings, tensors []byte) {
		state := classifier.State{Settings: settings}
		if json.Unmarshal(tensors, &state.Tensors) != nil {
			return
		}
		if h, err := dkl.Load(state); err == nil {
			checkAgain(t, h, dkl.Load)
			_ = h.Forward(normal(2, h.Dim(), 0, 1), normal(2, h.In(), 1, 1)) // may overflow, must not panic
		}
	})
}

// checkAgain tests that a loaded head is saved and loaded unchanged.
func checkAgain[T classifier.Saver](t *testing.T, v T, load func(classifier.State) (T, error)) {
	t.Helper()
	back, err := load(saved(t, v))
	if err != nil || !reflect.DeepEqual(saved(t, back), saved(t, v)) {
		t.Fatalf("does not come back: %v", err)
	}
}
