package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/classifiertest"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
	"github.com/seed-90d10d51/pipeline/dkl"
	"github.com/seed-90d10d51/pipeline/gptree"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/method"
)

func blobs(classes, n, d int) (blas32.General, []string) {
	rng := rand.New(rand.NewPCG(9, 9))
	x := dense.New32(classes*n, d)
	var y []string
	for i := range x.Rows {
		for j := range d {
			x.Data[i*d+j] = float32(0.4 * rng.NormFloat64())
		}
		x.Data[i*d+i%classes]++
		y = append(y, fmt.Sprintf("c%02d", i%classes))
	}
	return x, y
}

// projecting returns an unfitted Predictor with a projection.
func projecting(t testing.TB, name string, T float64, cfg dkl.Training, env dkl.TrainEnv) *Predictor {
	t.Helper()
	p := must.Get(NewPredictor(Settings{Method: name, Heads: method.DefaultConfig(),
		Temperature: temperature.Config{Temperature: T}, DKL: &cfg, Env: env}))(t)
	return p
}

func taughtProjecting(t testing.TB, name string, cfg dkl.Training, env dkl.TrainEnv) *Predictor {
	t.Helper()
	h := projecting(t, name, 1, cfg, env)
	x, y := blobs(4, 20, 6)
	must.Do(t, h.Learn(context.Background(), x, y))
	return h
}

// The inner head works on the projections: it gives the same answers as a head
// trained on them directly.
func TestIsTheHeadAtTheProjections(t *testing.T) {
	h := taughtProjecting(t, "plda", training(), dkl.TrainEnv{})
	x, y := blobs(4, 20, 6)
	z := must.Get(h.Projection.Project(x))(t)
	byHand := must.Get(method.New("plda", method.DefaultConfig()))(t)
	must.Do(t, byHand.Learn(context.Background(), z, y))
	if !slices.Equal(classifiertest.LogProb(t, h, x).Data, classifiertest.LogProb(t, byHand, z).Data) {
		t.Error("other answers")
	}
}

// Later sessions train nothing, and heads for episodes share the
// projection.
func TestTrainsOnce(t *testing.T) {
	trainings := 0
	env := dkl.TrainEnv{Train: func(ctx context.Context, tr *dkl.Trainer) error {
		trainings++
		for !tr.Done() {
			if _, err := tr.Epoch(ctx); err != nil {
				return err
			}
		}
		return nil
	}}
	h := projecting(t, "plda", temperature.Auto, training(), env)
	x, y := blobs(5, 30, 6)
	must.Do(t, h.Learn(context.Background(), x, y))
	if h.Temperature.Fallback != "" {
		t.Errorf("no temperature: %s", h.Temperature.Fallback)
	}
	must.Do(t, h.Learn(context.Background(), x, slices.Repeat([]string{"another"}, len(y))))
	z := must.Get(h.project(x))(t)
	again, err := h.unfitted()
	if err == nil {
		err = again.Learn(context.Background(), z, y)
	}
	if err != nil || trainings != 1 {
		t.Errorf("%d trainings, %v", trainings, err)
	}
}

// A gptree takes over the inducing inputs and the kernel only when asked.
func TestHandOver(t *testing.T) {
	for _, over := range []bool{false, true} {
		cfg := training()
		cfg.HandOver = over
		h := taughtProjecting(t, "gptree", cfg, dkl.TrainEnv{})
		s, ok := h.Head.(*gptree.GPTree)
		if !ok {
			t.Fatal("no tree")
		}
		if took := s.Settings().Outputscale != gptree.DefaultConfig().Outputscale; took != over {
			t.Errorf("hand over %t: outputscale %g", over, s.Settings().Outputscale)
		}
	}
}

func TestViewsNeedImages(t *testing.T) {
	cfg := training()
	cfg.Views = 1
	h := projecting(t, "ncm", 1, cfg, dkl.TrainEnv{})
	x, y := blobs(3, 5, 6)
	if err := h.Learn(context.Background(), x, y); err == nil || !strings.Contains(err.Error(), "views") ||
		len(h.Classes()) > 0 {
		t.Error(err)
	}
	seen := 0
	taughtProjecting(t, "ncm", cfg, dkl.TrainEnv{Views: func(x blas32.General) ([]blas32.General, error) {
		seen = x.Rows
		return []blas32.General{x}, nil
	}})
	if seen != 80 {
		t.Errorf("views of %d examples", seen)
	}
}

func TestFailedTrainingChangesNothing(t *testing.T) {
	lost := errors.New("lost")
	h := projecting(t, "ncm", 1, training(),
		dkl.TrainEnv{Train: func(context.Context, *dkl.Trainer) error { return lost }})
	x, y := blobs(3, 5, 6)
	if err := h.Learn(context.Background(), x, y); !errors.Is(err, lost) || len(h.Classes()) > 0 || h.Dim() != 0 {
		t.Error(err)
	}
}

func FuzzLoadProjection(f *testing.F) {
	s := must.Get(taughtProjecting(f, "ncm", training(), dkl.TrainEnv{}).Save())(f)
	names := slices.Sorted(maps.Keys(s.Tensors))
	f.Add(s.Settings, 0, 0)
	f.Add(s.Settings, 1, 2)
	x, _ := blobs(2, 2, 6)
	// Settings with a tensor that is missing, too short or of another shape.
	f.Fuzz(func(t *testing.T, settings []byte, which, how int) {
		tensors := maps.Clone(s.Tensors)
		if name := names[uint(which)%uint(len(names))]; how != 0 {
			tensors[name] = damaged(tensors[name], how)
		}
		h, err := loadPredictor(classifier.State{Settings: settings, Tensors: tensors},
			func(s classifier.State) (classifier.Learner, error) { return method.Load("ncm", s) }, nil)
		if err != nil || len(h.Classes()) == 0 {
			return
		}
		if !json.Valid(settings) {
			t.Errorf("%q was loaded", settings)
		}
		_ = h.Score(dense.New(x.Rows, len(h.Classes())), make([]float64, x.Rows), x)
	})
}

// damaged returns one of a few faulty versions of a tensor.
func damaged(t classifier.Tensor, how int) classifier.Tensor {
	switch uint(how) % 4 {
	case 1:
		return classifier.Tensor{}
	case 2:
		t.F64, t.F32 = t.F64[:len(t.F64)/2], t.F32[:len(t.F32)/2]
	case 3:
		t.Shape = append(slices.Clone(t.Shape), how)
	}
	return t
}
