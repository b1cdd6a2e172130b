package classifier_test

import (
	"math"
	"reflect"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
)

// saved is a class with a field of every kind; the number of rows differs from
// class to class.
type saved struct {
	n      int
	base   bool
	weight float64
	mean   []float64
	rows   []float32
}

func (s *saved) fields(c *classifier.Codec) {
	k := len(s.rows) / 2
	c.Int("n", &s.n, 1, 9)
	c.Int("k", &k, 0, 3)
	c.Bool("base", &s.base)
	c.Number("weight", &s.weight)
	c.Float64("mean", &s.mean, 2)
	c.Rows32("rows", &s.rows, k, 2)
}

func encoded() ([]saved, map[string]classifier.Tensor) {
	classes := []saved{
		{1, true, 0.5, []float64{1, 2}, []float32{1, 2, 3, 4}}, {2, false, -1, []float64{3, 4}, []float32{}},
		{9, true, 0, []float64{5, 6}, []float32{5, 6}},
	}
	return classes, classifier.EncodeClasses(classes, "a_", func(c *classifier.Codec, s *saved) { s.fields(c) })
}

func decoded(tensors map[string]classifier.Tensor) ([]saved, error) {
	return classifier.DecodeClasses(classifier.State{Tensors: tensors}, 3, "a_",
		func(c *classifier.Codec, s *saved) { s.fields(c) })
}

func TestCodecRoundTrip(t *testing.T) {
	want, tensors := encoded()
	got, err := decoded(tensors)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if rows := tensors["a_rows"]; !reflect.DeepEqual(rows.Shape, []int{3, 2}) || len(rows.F32) != 6 ||
		cap(rows.F32) != 6 {
		t.Errorf("rows: %+v", rows)
	}
}

func TestCodecRefuses(t *testing.T) {
	for name, change := range map[string]func(map[string]classifier.Tensor){
		"missing":      func(s map[string]classifier.Tensor) { delete(s, "a_mean") },
		"another kind": func(s map[string]classifier.Tensor) { s["a_mean"] = s["a_rows"] },
		"too large":    func(s map[string]classifier.Tensor) { s["a_n"].I64[2] = 10 },
		"too small":    func(s map[string]classifier.Tensor) { s["a_n"].I64[0] = 0 },
		"no truth":     func(s map[string]classifier.Tensor) { s["a_base"].I64[0] = 2 },
		"more rows":    func(s map[string]classifier.Tensor) { s["a_k"].I64[1] = 1 },
		"fewer rows":   func(s map[string]classifier.Tensor) { s["a_k"].I64[0] = 1 },
		"infinite":     func(s map[string]classifier.Tensor) { s["a_weight"].F64[1] = math.Inf(1) },
		"NaN":          func(s map[string]classifier.Tensor) { s["a_rows"].F32[1] = float32(math.NaN()) },
		"short": func(s map[string]classifier.Tensor) {
			s["a_mean"] = classifier.Tensor{Shape: []int{2, 2}, F64: make([]float64, 4)}
		},
		"long": func(s map[string]classifier.Tensor) {
			s["a_mean"] = classifier.Tensor{Shape: []int{4, 2}, F64: make([]float64, 8)}
		},
		"turned": func(s map[string]classifier.Tensor) {
			s["a_mean"] = classifier.Tensor{Shape: []int{2, 3}, F64: make([]float64, 6)}
		},
		"unfilled": func(s map[string]classifier.Tensor) {
			s["a_mean"] = classifier.Tensor{Shape: []int{3, 2}, F64: make([]float64, 5)}
		},
	} {
		_, tensors := encoded()
		change(tensors)
		if _, err := decoded(tensors); err == nil {
			t.Errorf("%s: was read", name)
		}
	}
}
