package classtable_test

import (
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/classifiertest"
	"github.com/seed-90d10d51/pipeline/classifier/kit/classtable"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// Toy heads use the minimum that a method must supply: a class is its mean, the
// score is −‖x−mean‖².
type (
	summed = classtable.Exact[struct{}, moments.Total]
	kept   = classtable.Kept[struct{}, moments.Total]
)

type model = classtable.Model[struct{}, moments.Total]

func toy() classtable.Method[struct{}, moments.Total] {
	return classtable.Method[struct{}, moments.Total]{
		Name: "toy",
		Fit: func(_ *model, old moments.Total, change classtable.Change) (moments.Total, error) {
			if change.Stats != nil {
				return change.Stats.Total(), nil
			}
			return change.Total(old)
		},
		Rescore: func(*model, []int) error { return nil },
		Scoring: func(m *model) classifier.Scoring {
			return classifier.Scoring{Scores: func(x blas32.General) (blas64.General, error) {
				return scores(m, x), nil
			}}
		},
		Count:  func(t moments.Total) int { return t.N },
		Fields: func(c *classifier.Codec, m *model, t *moments.Total) { t.Fields(c, m.Dim) },
	}
}

func newSummed(struct{}) (*summed, error) {
	head := classtable.NewExact(toy())
	return &head, nil
}

func newKept(struct{}) (*kept, error) {
	method := toy()
	method.Made = func(t moments.Total, stats *moments.Moments) bool { return stats.Made(t.N, t.Mean(), 1e-9) }
	method.Keep = true
	head := classtable.NewKept(method)
	return &head, nil
}

func scores(m *model, x blas32.General) blas64.General {
	out := dense.New(x.Rows, m.Classes.Len())
	for i := range x.Rows {
		for c, t := range m.Classes.Values() {
			for j, v := range t.Mean() {
				delta := float64(dense.Row32(x, i)[j]) - v
				dense.Row(out, i)[c] -= delta * delta
			}
		}
	}
	return out
}

// TestToyKeepsTheContract checks that the shell alone fulfils the contract,
// with and without exact statistics.
func TestToyKeepsTheContract(t *testing.T) {
	for name, f := range map[string]classifiertest.Factory{
		"totals": {
			New:  func() (classifier.Learner, error) { return newSummed(struct{}{}) },
			Load: func(s classifier.State) (classifier.Learner, error) { return classtable.Load("toy", s, newSummed) },
		},
		"statistics": {
			New:  func() (classifier.Learner, error) { return newKept(struct{}{}) },
			Load: func(s classifier.State) (classifier.Learner, error) { return classtable.Load("toy", s, newKept) },
		},
	} {
		f.OrderFree = true
		t.Run(name, func(t *testing.T) { classifiertest.Run(t, f) })
	}
}

// TestLoadRefusesAnotherMethod also checks a state without a method.
func TestLoadRefusesAnotherMethod(t *testing.T) {
	h := must.Get(newSummed(struct{}{}))(t)
	s := must.Get(h.Save())(t)
	if _, err := classtable.Load("other", s, newSummed); err == nil ||
		err.Error() != "other: load: the head belongs to method toy" {
		t.Error(err)
	}
	s.Settings = []byte(`{"config":null}`)
	if _, err := classtable.Load("toy", s, newSummed); err == nil {
		t.Error("a state without a method was loaded")
	}
}
