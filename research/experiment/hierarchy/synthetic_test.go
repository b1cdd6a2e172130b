package hierarchy_test

import (
	"reflect"
	"runtime"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/research/experiment/hierarchy"
)

// TestDrawRepeats: one core gives the same data, another seed different data,
// and adding classes does not change the first ones.
func TestDrawRepeats(t *testing.T) {
	s := hierarchy.Synthetic{K: 5, Groups: 2, Dim: 6, Train: 3, Test: 2, Noise: 0.4}
	train, test := s.Draw(1)
	if train.X.Rows != 15 || test.X.Rows != 10 || train.Y[3] != "class00001" || len(test.Y) != 10 {
		t.Errorf("%d and %d examples, %v", train.X.Rows, test.X.Rows, train.Y)
	}
	more := s
	more.K = 8
	first, _ := more.Draw(1)
	if !reflect.DeepEqual(dense.Rows32(first.X, 0, 15), train.X) {
		t.Error("more classes change the first ones")
	}
	if other, _ := s.Draw(2); reflect.DeepEqual(other, train) {
		t.Error("another seed draws the same")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if again, againTest := s.Draw(1); !reflect.DeepEqual(again, train) || !reflect.DeepEqual(againTest, test) {
		t.Error("one core draws others")
	}
}
