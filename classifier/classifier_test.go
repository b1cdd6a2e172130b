package classifier_test

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
)

// column uses the first value of a row as the score of its first class and zero
// for the others.
type fixed struct {
	classes []string
	calls   *int
}

func (f fixed) Classes() []string { return f.classes }
func (f fixed) Dim() int          { return 2 }
func (f fixed) Score(dst blas64.General, _ []float64, x blas32.General) error {
	*f.calls++
	if err := classifier.CheckScore(f, dst, nil, x); err != nil {
		return err
	}
	for i := range x.Rows {
		row := dst.Data[i*dst.Stride : i*dst.Stride+dst.Cols]
		clear(row)
		row[0] = float64(x.Data[i*x.Stride])
		classifier.LogSoftmax(row)
	}
	return nil
}

func matrix(rows ...[]float32) blas32.General {
	m := blas32.General{Rows: len(rows), Cols: len(rows[0]), Stride: len(rows[0])}
	for _, r := range rows {
		m.Data = append(m.Data, r...)
	}
	return m
}

func TestSoftmaxAtExtremes(t *testing.T) {
	for _, v := range [][]float64{
		{1e308, 1e308}, {-1e308, -1e308, -1e308}, {1e308, -1e308}, {0}, {1e-300, 0}, {-745, 0, 745}, {1e6, 1e6 + 1},
	} {
		lse := classifier.LogSumExp(v)
		scores := append([]float64(nil), v...)
		classifier.LogSoftmax(scores)
		var sum float64
		for i, l := range scores {
			if math.IsNaN(l) || l > 0 {
				t.Errorf("%v: log-probability %d = %g", v, i, l)
			}
			sum += math.Exp(l)
		}
		if math.Abs(sum-1) > 1e-12 || math.IsNaN(lse) || math.IsInf(lse, 0) {
			t.Errorf("%v: sum %g, log-sum-exp %g", v, sum, lse)
		}
	}
	if got := classifier.LogSumExp(nil); !math.IsInf(got, -1) {
		t.Errorf("log-sum-exp of nothing = %g", got)
	}
	if got := classifier.LogSumExp([]float64{1e6, 1e6}); got != 1e6+math.Ln2 {
		t.Errorf("log-sum-exp = %.17g", got)
	}
}

func TestFromLogProb(t *testing.T) {
	classes := []string{"a", "b", "c", "d"}
	lp := []float64{math.Log(0.2), math.Log(0.4), math.Log(0.2), math.Log(0.2)}
	p := classifier.FromLogProb(classes, lp, 3)
	if p.Label != "b" || math.Abs(p.Probability-0.4) > 1e-15 || math.Abs(p.Margin-0.2) > 1e-15 {
		t.Errorf("%+v", p)
	}
	if want := -(0.4*math.Log(0.4) + 0.6*math.Log(0.2)); math.Abs(p.Entropy-want) > 1e-15 {
		t.Errorf("entropy %g, want %g", p.Entropy, want)
	}
	var order []string
	for _, r := range p.TopK {
		order = append(order, r.Label)
	}
	if !reflect.DeepEqual(order, []string{"b", "a", "c"}) {
		t.Errorf("top-3 %v: ties go by column", order)
	}
	one := classifier.FromLogProb([]string{"x"}, []float64{0}, 5)
	if one.Margin != 1 || one.Entropy != 0 || len(one.TopK) != 1 {
		t.Errorf("one class: %+v", one)
	}
	if none := classifier.FromLogProb(classes, lp, 0); none.TopK != nil || none.Label != "b" {
		t.Errorf("top-0: %+v", none)
	}
}

func TestPredictWorksInBatches(t *testing.T) {
	calls := 0
	c := fixed{classes: []string{"a", "b"}, calls: &calls}
	x := blas32.General{Rows: 4000, Cols: 2, Stride: 3, Data: make([]float32, 12000)}
	for i := range 4000 {
		x.Data[3*i] = float32(i) - 1999.5
	}
	got, err := classifier.Predict(c, x, 1)
	if err != nil || len(got) != 4000 || calls != 4 {
		t.Fatalf("%d predictions, %d calls, %v", len(got), calls, err)
	}
	for i, p := range got {
		if want := map[bool]string{true: "a", false: "b"}[i >= 2000]; p.Label != want {
			t.Fatalf("row %d is %s, want %s", i, p.Label, want)
		}
	}
	x.Data[3*2700] = float32(math.NaN())
	var bad *classifier.NotFiniteError
	if _, err := classifier.Predict(c, x, 1); !errors.As(err, &bad) || bad.Row != 2700 {
		t.Errorf("NaN in row 2700: %v", err)
	}
}

func TestPredictRefuses(t *testing.T) {
	calls := 0
	c := fixed{classes: []string{"a", "b"}, calls: &calls}
	for name, x := range map[string]blas32.General{
		"width":  matrix([]float32{1, 2, 3}),
		"stride": {Rows: 2, Cols: 2, Stride: 1, Data: make([]float32, 4)},
		"short":  {Rows: 2, Cols: 2, Stride: 2, Data: make([]float32, 3)},
		"rows":   {Rows: -1, Cols: 2, Stride: 2},
	} {
		if _, err := classifier.Predict(c, x, 1); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	if _, err := classifier.Predict(c, matrix([]float32{1, 2}), -1); err == nil {
		t.Error("top-k of −1 was accepted")
	}
	if _, err := classifier.Predict(fixed{calls: &calls}, matrix([]float32{1, 2}), 1); !errors.Is(err,
		classifier.ErrNotFitted) {
		t.Errorf("no classes: %v", err)
	}
}

func TestGroupByClass(t *testing.T) {
	got := classifier.GroupByClass([]string{"b", "a", "b"})
	want := []classifier.Group{{Class: "a", Rows: []int{1}}, {Class: "b", Rows: []int{0, 2}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
}

func TestUnit(t *testing.T) {
	dst := make([]float64, 2)
	for _, c := range []struct {
		x    []float32
		want []float64
	}{{[]float32{3, 4}, []float64{0.6, 0.8}}, {[]float32{0, 0}, []float64{0, 0}}, {[]float32{3e38, 0}, []float64{1, 0}},
		{[]float32{0, 1e-45}, []float64{0, 1}}} {
		classifier.Unit(dst, c.x)
		if math.Abs(dst[0]-c.want[0]) > 1e-15 || math.Abs(dst[1]-c.want[1]) > 1e-15 {
			t.Errorf("%v → %v", c.x, dst)
		}
	}
}

func TestStateRefusesTensors(t *testing.T) {
	s := classifier.State{Tensors: map[string]classifier.Tensor{
		"ok":    {Shape: []int{2, 2}, F64: []float64{1, 2, 3, 4}},
		"short": {Shape: []int{2, 2}, F64: []float64{1}},
		"nan":   {Shape: []int{1}, F64: []float64{math.NaN()}},
		"huge":  {Shape: []int{1 << 62, 4}, F64: nil},
		"count": {Shape: []int{2}, I64: []int64{1, 9}},
	}}
	if _, err := s.Float64("ok", 2, 2); err != nil {
		t.Error(err)
	}
	for name, err := range map[string]error{
		"missing": second(s.Float64("missing", 1)), "shape": second(s.Float64("ok", 4)),
		"kind":  second(s.Float32("ok", 2, 2)),
		"short": second(s.Float64("short", 2, 2)), "nan": second(s.Float64("nan", 1)),
		"huge":  second(s.Float64("huge", 1<<62, 4)),
		"range": second(s.Counts("count", 2, 1, 8)),
	} {
		if err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func second[T any](_ T, err error) error { return err }
