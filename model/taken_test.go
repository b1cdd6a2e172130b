package model_test

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier/holdout"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
)

// days returns photos of classes on four days each, four a day, which are alike only in what
// the day gives them.
func days(first, last int) (b model.Batch) {
	const d = 30
	b.X = blas32.General{Cols: d, Stride: d}
	for c := first; c < last; c++ {
		rng := rand.New(rand.NewPCG(uint64(c), 3))
		normal := func(scale float32) (out [d]float32) {
			for j := range out {
				out[j] = scale * float32(rng.NormFloat64())
			}
			return out
		}
		class := normal(0.4)
		for day := range 4 {
			light := normal(0.9)
			for photo := range 4 {
				row := normal(1)
				for j := range row {
					row[j] += class[j] + light[j]
				}
				b.X.Data = append(b.X.Data, row[:]...)
				b.Labels = append(b.Labels, "class "+strconv.Itoa(c))
				b.Taken = append(b.Taken, holdout.Taken{Camera: 1, Unix: int64(1e9 + 86400*day + photo)})
			}
		}
	}
	b.X.Rows = len(b.Labels)
	b.Content = embedding.HashRows(b.X)
	return b
}

// TestOccasionsOutliveTheFile: when photos were taken decides what is held out, also after
// the model was saved and loaded, when it learns and when it forgets.
func TestOccasionsOutliveTheFile(t *testing.T) {
	ctx := context.Background()
	made := func(b model.Batch) *model.Model {
		t.Helper()
		m, _ := must.Get2(model.Train(ctx, model.Settings{Method: "plda", Heads: method.DefaultConfig()}, b))(t)
		return m
	}
	loaded := func(m *model.Model) *model.Model {
		t.Helper()
		file := filepath.Join(t.TempDir(), "model")
		must.Do(t, m.Save(file))
		m = must.Get(model.Load(file))(t)
		return m
	}
	timeless := days(0, 20)
	timeless.Taken = nil
	if m := made(timeless); m.Predictor.Calibration.Elsewhere != 0 {
		t.Errorf("without times, of another occasion %.3f", m.Predictor.Calibration.Elsewhere)
	}
	m := made(days(0, 20))
	if found := m.Predictor.Calibration; found.Elsewhere == 0 || found.Elsewhere > found.Accuracy-0.1 {
		t.Fatalf("like these %.3f, of another occasion %.3f", found.Accuracy, found.Elsewhere)
	}
	kept := loaded(m)
	limit, err := kept.Threshold(0.05)
	away, ok := kept.Predictor.Calibration.Novelty.Elsewhere(limit)
	if err != nil || !ok || away < 0.1 {
		t.Errorf("of photos of another occasion %.3f are turned away, %v, %v", away, ok, err)
	}
	if b, ok := kept.Examples(); !ok || !slices.Equal(b.Taken, days(0, 20).Taken) {
		t.Errorf("%d times of %d photos came back", len(b.Taken), len(b.Labels))
	}
	for _, m := range []*model.Model{m, kept} {
		must.Get(m.Learn(ctx, days(20, 30)))(t)
	}
	if !reflect.DeepEqual(m.Predictor.Calibration, kept.Predictor.Calibration) {
		t.Errorf("learned more: %+v; after the file: %+v", m.Predictor.Calibration, kept.Predictor.Calibration)
	}
	must.Get(kept.ForgetClass(ctx, "class 25", model.Forgetting{}))(t)
	if found := kept.Predictor.Calibration; found.Elsewhere == 0 {
		t.Errorf("forgot a class: %+v", found)
	}
}
