package hppca_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/hppca"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/linalg/native"
	"github.com/seed-90d10d51/pipeline/linalg/native/nativetest"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/experiment/hierarchy"
)

// TestScale trains, saves, loads and predicts as many classes as ImageNet-10k
// has, within 6 GiB in total. It needs PIPELINE_LONG and should run alone in
// its process.
func TestScale(t *testing.T) {
	if os.Getenv("PIPELINE_LONG") == "" {
		t.Skip("minutes and gigabytes; set PIPELINE_LONG=1 to run it")
	}
	const limit = 6 << 30
	s := hierarchy.Synthetic{K: 10450, Dim: 640, Train: 22, Test: 1, Noise: 0.4}
	train, test := s.Draw(1)
	note(t, "drawn", time.Now())
	path := filepath.Join(t.TempDir(), "large.model")
	trainAndSave(t, train, path)
	train = experiment.Labelled{}

	start := time.Now()
	m := must.Get(model.Load(path))(t)
	note(t, "loaded", start)
	head := bare(t, m.Predictor.Head)
	classifier.UseBackend(head, nativetest.Open(t, native.Auto).Backend)
	x, y := every(test, 10)
	right, took, density := measure(t, head, x, y)
	cfg := hppca.DefaultConfig()
	cfg.Statistics, cfg.T = false, head.Supers()
	all := must.Get(head.Regroup(context.Background(), cfg))(t)
	allRight, allTook, _ := measure(t, all, x, y)
	t.Logf("%d rows: accuracy %.4f in %v, density %.4f; all visited %.4f in %v", x.Rows, right, took, density, allRight,
		allTook)
	if right < allRight-0.03 {
		t.Errorf("accuracy %.4f of %.4f", right, allRight)
	}
	if peak := peakBytes(t); peak > limit {
		t.Errorf("peak memory %.2f GiB, limit %.0f", gib(peak), gib(limit))
	}
}

// bare returns a head by its concrete type.
func bare(t *testing.T, c classifier.Head) *hppca.HPPCA {
	t.Helper()
	h, ok := c.(*hppca.HPPCA)
	if !ok {
		t.Fatalf("a %T", c)
	}
	return h
}

func trainAndSave(t *testing.T, train experiment.Labelled, path string) {
	t.Helper()
	settings := model.Settings{Method: "hppca", Heads: method.DefaultConfig(), WithoutStatistics: true,
		WithoutCalibration: true}
	settings.Heads.WithoutStatistics, settings.Temperature.Temperature = true, 1
	settings.Backend = nativetest.Open(t, native.Auto).Backend
	start := time.Now()
	m, _ := must.Get2(model.Train(context.Background(), settings,
		model.Batch{X: train.X, Labels: train.Y, Content: embedding.HashRows(train.X)}))(t)
	note(t, "fitted", start)
	start = time.Now()
	must.Do(t, m.Save(path))
	note(t, "saved", start)
}

// every returns one of every few rows.
func every(s experiment.Labelled, step int) (blas32.General, []string) {
	var rows []int
	var y []string
	for i := 0; i < s.X.Rows; i += step {
		rows, y = append(rows, i), append(y, s.Y[i])
	}
	return dense.Gather32(s.X, rows), y
}

// batch is the number of rows scored in one call.
const batch = 1024

// measure returns accuracy, the time of LogProb in batches, and the density.
func measure(t *testing.T, head *hppca.HPPCA, x blas32.General, y []string) (right float64, took time.Duration,
	density float64) {
	t.Helper()
	C := len(head.Classes())
	room := make([]float64, batch*C)
	for first := 0; first < x.Rows; first += batch {
		rows := dense.Rows32(x, first, min(first+batch, x.Rows))
		dst := blas64.General{Rows: rows.Rows, Cols: C, Stride: C, Data: room[:rows.Rows*C]}
		start := time.Now()
		must.Do(t, head.Score(dst, nil, rows))
		took += time.Since(start)
		for i := range rows.Rows {
			p := dst.Data[i*C : (i+1)*C]
			if head.Classes()[slices.Index(p, slices.Max(p))] == y[first+i] {
				right += 1 / float64(x.Rows)
			}
		}
	}
	visits := must.Get(head.Visits(x))(t)
	for _, v := range visits {
		density += float64(v.Neurons) / float64(C*len(visits))
	}
	return right, took, density
}

func note(t *testing.T, what string, start time.Time) {
	t.Helper()
	t.Logf("%s in %.1f s, peak memory %.2f GiB", what, time.Since(start).Seconds(), gib(peakBytes(t)))
}

func gib(bytes int) float64 { return float64(bytes) / (1 << 30) }

// peakBytes returns the largest resident memory of this process so far.
func peakBytes(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("needs /proc")
	}
	m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(text)
	if m == nil {
		t.Skip("/proc/self/status has no VmHWM")
	}
	kb := must.Get(strconv.Atoi(string(m[1])))(t)
	return kb << 10
}
