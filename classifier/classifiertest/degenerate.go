package classifiertest

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// degenerate returns base sessions that a head must accept.
func degenerate() map[string]session {
	same := draw(1, 6, "ant", "bee")
	for i := range same.y {
		copy(dense.Row32(same.x, i), dense.Row32(same.x, i%2))
	}
	constant := draw(1, 6, "ant", "bee")
	for i := range constant.y {
		constant.x.Data[i*dim] = 3
		constant.x.Data[i*dim+1] = 0
	}
	equal := draw(1, 3, "ant", "bee")
	for i := range equal.y {
		copy(dense.Row32(equal.x, i), dense.Row32(equal.x, 0))
	}
	zero := draw(1, 3, "ant", "bee")
	clear(zero.x.Data)
	huge := draw(1, 5, "ant", "bee")
	for i := range huge.x.Data {
		huge.x.Data[i] *= 1e30
	}
	tiny := draw(1, 5, "ant", "bee")
	for i := range tiny.x.Data {
		tiny.x.Data[i] *= 1e-30
	}
	opposite := draw(1, 1, "ant", "bee")
	opposite = join(opposite, opposite)
	for i := range 2 * dim {
		opposite.x.Data[i] *= -1
	}
	return map[string]session{
		"one example each": draw(1, 1, "ant", "bee", "cat"), "one class": draw(1, 5, "ant"),
		"one example": draw(1, 1, "ant"),
		"duplicates":  same, "constant features": constant, "all examples equal": equal, "all zero": zero,
		"one of one class, many of another": join(draw(1, 20, "ant"), draw(2, 1, "bee")), "huge values": huge,
		"tiny values": tiny, "cancelling": opposite,
	}
}

func checkDegenerate(t *testing.T, f Factory) {
	for name, s := range degenerate() {
		t.Run(name, func(t *testing.T) {
			h := f.learned(t, s)
			sessions := map[string]session{"itself": s, "queries": {x: queries()}, "extremes": {x: extremes()}}
			for what, x := range sessions {
				lp := LogProb(t, h, x.x)
				proper(t, what, lp)
				if lp.Cols == 1 && slices.Max(lp.Data) != slices.Min(lp.Data) {
					t.Errorf("%s: one class has log-probability %g … %g", what, slices.Min(lp.Data),
						slices.Max(lp.Data))
				}
			}
			for _, v := range novelty(t, h, queries()) {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Errorf("novelty %g", v)
				}
			}
			learn(t, h, draw(8, 3, "dog", "eel"))
			proper(t, "after another session", LogProb(t, h, queries()))
			if _, ok := h.(classifier.Saver); ok {
				f.reloaded(t, h)
			}
		})
	}
}

// reloaded saves and loads a head, with its statistics.
func (f Factory) reloaded(t *testing.T, h classifier.Learner) classifier.Learner {
	t.Helper()
	s, ok := h.(classifier.Saver)
	if !ok {
		t.Skip("cannot be saved")
	}
	back := must(f.Load(must(s.Save())(t)))(t)
	if k, ok := h.(classifier.StatisticsKeeper); ok {
		to, ok := back.(classifier.StatisticsKeeper)
		if !ok {
			t.Fatal("keeps no statistics any more")
		}
		if err := to.RestoreStatistics(must(k.Statistics())(t)); err != nil {
			t.Fatal(err)
		}
	}
	return back
}

func checkSaveLoad(t *testing.T, f Factory) {
	h := f.learned(t, base(), f.novel())
	back := f.reloaded(t, h)
	unchanged(t, "saving and loading", back, everything(t, h))
	if !slices.Equal(back.Classes(), h.Classes()) || back.Dim() != h.Dim() {
		t.Errorf("classes %v, dimension %d", back.Classes(), back.Dim())
	}
	if !slices.Equal(LogProb(t, back, queries()).Data, LogProb(t, h, queries()).Data) {
		t.Error("log-probabilities changed in the last bits")
	}
	if !slices.Equal(novelty(t, back, queries()), novelty(t, h, queries())) {
		t.Error("novelty changed in the last bits")
	}
	saved := everything(t, h)[0]
	for name, tensor := range saved.Tensors {
		clear(tensor.F32)
		clear(tensor.F64)
		clear(tensor.I64)
		saved.Tensors[name] = tensor
	}
	unchanged(t, "overwriting what it saved", h, everything(t, back))
}

func checkLearnAfterLoad(t *testing.T, f Factory) {
	h := f.learned(t, base())
	back := f.reloaded(t, h)
	learn(t, h, f.novel())
	learn(t, back, f.novel())
	unchanged(t, "loading before the second session", back, everything(t, h))
	k, ok := h.(classifier.StatisticsKeeper)
	if !ok {
		return
	}
	bare := must(f.Load(everything(t, h)[0]))(t)
	before := everything(t, bare)
	if err := bare.Learn(context.Background(), f.novel().x, f.novel().y); err == nil {
		t.Error("an old class took examples without statistics")
	}
	unchanged(t, "learning without statistics", bare, before)
	learn(t, bare, draw(9, 3, "fox"))
	other, _ := f.learned(t, draw(8, 9, "cat", "ant", "bee")).(classifier.StatisticsKeeper)
	if err := other.RestoreStatistics(must(k.Statistics())(t)); err == nil {
		t.Error("the statistics of another model were taken")
	}
}

// checkDamagedState checks that a state with something missing or altered is
// refused, or loads as a head that works; nothing panics.
func checkDamagedState(t *testing.T, f Factory) {
	h := f.learned(t, base(), f.novel())
	s, ok := h.(classifier.Saver)
	if !ok {
		t.Skip("cannot be saved")
	}
	for name := range must(s.Save())(t).Tensors {
		for damage, change := range map[string]func(classifier.Tensor) classifier.Tensor{
			"missing":   func(classifier.Tensor) classifier.Tensor { return classifier.Tensor{} },
			"truncated": truncated,
			"reshaped":  func(v classifier.Tensor) classifier.Tensor { v.Shape = append(v.Shape, 2); return v },
			"NaN":       poisoned,
		} {
			state := must(s.Save())(t)
			tensor := change(state.Tensors[name])
			if reflect.DeepEqual(tensor, state.Tensors[name]) {
				continue
			}
			state.Tensors[name] = tensor
			if _, err := f.Load(state); err == nil {
				t.Errorf("tensor %s %s: was loaded", name, damage)
			}
		}
	}
	dim := regexp.MustCompile(`"dim":\d+`)
	for _, d := range []int{0, 1, 1 << 20, 1 << 32, math.MaxInt64} {
		state := must(s.Save())(t)
		state.Settings = dim.ReplaceAll(state.Settings, fmt.Appendf(nil, `"dim":%d`, d))
		if _, err := f.Load(state); err == nil {
			t.Errorf("dimension %d was loaded", d)
		}
	}
	for _, settings := range []string{"", "{", `{"config":{}}`, `{"dim":-1,"classes":["a"]}`, `[]`} {
		state := must(s.Save())(t)
		state.Settings = []byte(settings)
		if _, err := f.Load(state); err == nil {
			t.Errorf("settings %q were loaded", settings)
		}
	}
}

func truncated(v classifier.Tensor) classifier.Tensor {
	v.F32, v.F64, v.I64 = v.F32[:len(v.F32)/2], v.F64[:len(v.F64)/2], v.I64[:len(v.I64)/2]
	return v
}

func poisoned(v classifier.Tensor) classifier.Tensor {
	v.F32, v.F64, v.I64 = slices.Clone(v.F32), slices.Clone(v.F64), slices.Clone(v.I64)
	switch {
	case len(v.F32) > 0:
		v.F32[0] = float32(math.NaN())
	case len(v.F64) > 0:
		v.F64[0] = math.NaN()
	case len(v.I64) > 0:
		v.I64[0] = -1
	}
	return v
}
