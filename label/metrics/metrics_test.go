package metrics

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func logs(cols int, p ...float64) blas64.General {
	m := blas64.General{Rows: len(p) / cols, Cols: cols, Stride: cols, Data: make([]float64, len(p))}
	for i, v := range p {
		m.Data[i] = math.Log(v)
	}
	return m
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// Four known samples, one unknown, one without a label, computed by hand.
func TestEvaluateByHand(t *testing.T) {
	truth := []string{"a", "a", "b", "c", "zebra", ""}
	p := logs(3,
		0.8, 0.1, 0.1, // right
		0.3, 0.6, 0.1, // a taken for b
		0.2, 0.5, 0.3, // right
		0.5, 0.5, 0, // c taken for a: tie goes to the first; p(c) = 0
		0.9, 0.05, 0.05,
		0.9, 0.05, 0.05)
	r := must.Get(Evaluate([]string{"a", "b", "c"}, truth, p, []float64{1, 2, 3, 5, 3, 9}))(t)
	if r.N != 4 || r.NUnknown != 1 || r.NUnlabelled != 1 {
		t.Errorf("counts %d %d %d", r.N, r.NUnknown, r.NUnlabelled)
	}
	near(t, "accuracy", r.Accuracy, 0.5, 0)
	near(t, "balanced accuracy", r.BalancedAccuracy, (0.5+1+0)/3, 1e-15)
	near(t, "nll", r.NLLNats, (-math.Log(0.8)-math.Log(0.3)-math.Log(0.5)+MaxNLLNats)/4, 1e-12)
	// Bins: 0.8 is right, 0.6 wrong, 0.5 twice in one bin with one right: no gap.
	near(t, "ece", r.ECE, (0.2+0.6)/4, 1e-12)
	// Unknown 3 beats 1 and 2, ties with 3, loses to 5.
	near(t, "auroc", *r.NoveltyAUROC, 2.5/4, 1e-15)
	if want := [][]int{{1, 1, 0}, {0, 1, 0}, {1, 0, 0}}; !reflect.DeepEqual(r.Confusion, want) {
		t.Errorf("confusion %v, want %v", r.Confusion, want)
	}
	if b := r.Reliability[7]; b.N != 2 || b.Accuracy != 0.5 || math.Abs(b.Confidence-0.5) > 1e-15 {
		t.Errorf("bin of 0.5: %+v", b)
	}
}

func TestMaxNLLIsTheSmallestFloat(t *testing.T) {
	// math.Log itself is wrong for subnormal numbers on amd64.
	near(t, "MaxNLLNats", MaxNLLNats, 1074*math.Ln2, 1e-12)
}

func TestBinEdges(t *testing.T) {
	for p, want := range map[float64]int{
		0: 0, 1e-12: 0, 1.0 / 15: 0, 0.07: 1, 0.5: 7, 1: 14, math.Nextafter(1, 2): 14,
	} {
		if got := binOf(p); got != want {
			t.Errorf("binOf(%v) = %d, want %d", p, got, want)
		}
	}
}

func TestJSONContract(t *testing.T) {
	r := must.Get(Evaluate([]string{"a", "b"}, []string{"a"}, logs(2, 0.75, 0.25), nil))(t)
	var b bytes.Buffer
	must.Do(t, r.WriteJSON(&b))
	want := `{"n":1,"accuracy":1,"balanced_accuracy":1,"nll":0.2876820724517809,"ece":0.25,"novelty_auroc":null,` +
		`"new_ece":null,"per_class":[{"class":"a","n":1,"accuracy":1},{"class":"b","n":0,"accuracy":null}],` +
		`"confusion":[[1,0],[0,0]],"classes":["a","b"],"n_unknown":0,"n_unlabelled":0}` + "\n"
	if b.String() != want {
		t.Errorf("got  %swant %s", b.String(), want)
	}
}

type golden struct {
	Classes, Truth   []string
	LogProb          [][]float64 `json:"log_prob"`
	Novelty          []float64
	Accuracy         float64
	BalancedAccuracy float64 `json:"balanced_accuracy"`
	NLL, ECE         float64
	NoveltyAUROC     float64 `json:"novelty_auroc"`
	Confusion        [][]int
	Recall           []float64
}

func readGolden(t *testing.T) (golden, blas64.General) {
	t.Helper()
	raw := must.Get(os.ReadFile("testdata/golden.json"))(t)
	var g golden
	must.Do(t, json.Unmarshal(raw, &g))
	return g, blas64.General{Rows: len(g.LogProb), Cols: len(g.Classes), Stride: len(g.Classes),
		Data: slices.Concat(g.LogProb...)}
}

func TestScikitLearnGolden(t *testing.T) {
	g, logProb := readGolden(t)
	r := must.Get(Evaluate(g.Classes, g.Truth, logProb, g.Novelty))(t)
	near(t, "accuracy", r.Accuracy, g.Accuracy, 1e-15)
	near(t, "balanced accuracy", r.BalancedAccuracy, g.BalancedAccuracy, 1e-15)
	near(t, "nll", r.NLLNats, g.NLL, 1e-12)
	near(t, "ece", r.ECE, g.ECE, 1e-12)
	near(t, "auroc", *r.NoveltyAUROC, g.NoveltyAUROC, 1e-12)
	if !reflect.DeepEqual(r.Confusion, g.Confusion) {
		t.Errorf("confusion %v, want %v", r.Confusion, g.Confusion)
	}
	for i, want := range g.Recall {
		near(t, g.Classes[i], *r.PerClass[i].Accuracy, want, 1e-15)
	}
}

// Splitting the samples into batches must not change a bit.
func TestBatchesDoNotMatter(t *testing.T) {
	g, p := readGolden(t)
	want := must.Get(Evaluate(g.Classes, g.Truth, p, g.Novelty))(t)
	for _, size := range []int{1, 7, 64} {
		a := must.Get(NewAccumulator(g.Classes))(t)
		for i := 0; i < p.Rows; i += size {
			n := min(size, p.Rows-i)
			part := blas64.General{Rows: n, Cols: p.Cols, Stride: p.Stride, Data: p.Data[i*p.Stride:]}
			must.Do(t, a.Add(g.Truth[i:i+n], part, g.Novelty[i:i+n]))
		}
		if got, err := a.Report(); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("batches of %d differ (%v)", size, err)
		}
	}
}

// AUROC is the share of pairs in the right order, ties counting half.
func TestAUROCEqualsPairCount(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		neg, pos := make([]float64, 1+rng.IntN(12)), make([]float64, 1+rng.IntN(12))
		for _, s := range [][]float64{neg, pos} {
			for i := range s {
				s[i] = float64(rng.IntN(6)) - 2
				if rng.IntN(10) == 0 {
					s[i] = math.Inf(1 - 2*rng.IntN(2))
				}
			}
		}
		want := 0.0
		for _, p := range pos {
			for _, n := range neg {
				if p > n {
					want++
				} else if p == n {
					want += 0.5
				}
			}
		}
		near(t, "auroc", *AUROC(neg, pos), want/float64(len(neg)*len(pos)), 1e-12)
	}
	if AUROC(nil, []float64{1}) != nil || AUROC([]float64{1}, nil) != nil ||
		AUROC([]float64{math.NaN()}, []float64{1}) != nil {
		t.Error("AUROC of nothing must be nil")
	}
}

func TestNoAUROCWithoutUnknownOrNovelty(t *testing.T) {
	for name, c := range map[string]struct {
		truth   []string
		novelty []float64
	}{
		"no unknown": {[]string{"a", "b"}, []float64{1, 2}},
		"no novelty": {[]string{"a", "zebra"}, nil},
	} {
		r, err := Evaluate([]string{"a", "b"}, c.truth, logs(2, 0.5, 0.5, 0.5, 0.5), c.novelty)
		if err != nil || r.NoveltyAUROC != nil {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
}

func TestRefusals(t *testing.T) {
	ab := []string{"a", "b"}
	good := logs(2, 0.5, 0.5)
	for name, c := range map[string]struct {
		classes, truth []string
		p              blas64.General
		novelty        []float64
		says           string
	}{
		"no class":     {nil, nil, blas64.General{}, nil, "no classes"},
		"twice":        {[]string{"a", "a"}, []string{"a"}, good, nil, "twice"},
		"rows":         {ab, []string{"a", "b"}, good, nil, "1×2"},
		"short":        {ab, []string{"a"}, blas64.General{Rows: 1, Cols: 2, Stride: 2}, nil, "shorter"},
		"nan":          {ab, []string{"a"}, logs(2, math.NaN(), 0.5), nil, "row 0"},
		"inf":          {ab, []string{"a"}, logs(2, math.Inf(1), 0.5), nil, "row 0"},
		"nan novelty":  {ab, []string{"a"}, good, []float64{math.NaN()}, "row 0"},
		"novelties":    {ab, []string{"a"}, good, []float64{}, "0 novelties"},
		"only unknown": {ab, []string{"x"}, good, nil, "no sample belongs"},
		"nothing":      {ab, nil, logs(2), nil, "no sample belongs"},
	} {
		_, err := Evaluate(c.classes, c.truth, c.p, c.novelty)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want %q in it", name, err, c.says)
		}
	}
	a, _ := NewAccumulator(ab)
	must.Do(t, a.Add([]string{"a"}, good, nil))
	if err := a.Add([]string{"a"}, good, []float64{1}); err == nil {
		t.Error("novelty in some batches only: no error")
	}
}

func BenchmarkAccumulator256x1000(b *testing.B) {
	const n, c = 256, 1000
	classes, truth := make([]string, c), make([]string, n)
	for i := range classes {
		classes[i] = strings.Repeat("x", i+1)
	}
	for i := range truth {
		truth[i] = classes[i]
	}
	p := blas64.General{Rows: n, Cols: c, Stride: c, Data: make([]float64, n*c)}
	a, _ := NewAccumulator(classes)
	for b.Loop() {
		must.Do(b, a.Add(truth, p, nil))
	}
}

// The calibration error of being new is the mean distance of probability and share in bins.
func TestErrorOfBeingNew(t *testing.T) {
	a := must.Get(NewAccumulator([]string{"a"}))(t)
	must.Do(t, a.Add([]string{"a", "a", "x", "y"}, logs(1, 1, 1, 1, 1), []float64{0, 0, 1, 1}))
	a.AddNew(0.25, false)
	a.AddNew(0.75, false)
	a.AddNew(0.75, true)
	a.AddNew(1, true)
	r, err := a.Report()
	if err != nil || r.NewECE == nil || math.Abs(*r.NewECE-(0.25+0.5)/4) > 1e-15 {
		t.Errorf("%+v, %v", r, err)
	}
}
