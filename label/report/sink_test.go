package report_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/ncm"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/organise"
	"github.com/seed-90d10d51/pipeline/label/rank"
	"github.com/seed-90d10d51/pipeline/label/report"
)

// A counter is a head that counts the rows it scores.
type counter struct {
	classifier.Head
	rows atomic.Int64
}

func (c *counter) Score(dst blas64.General, novelty []float64, x blas32.General) error {
	c.rows.Add(int64(x.Rows))
	return c.Head.Score(dst, novelty, x)
}

func newCounter(t *testing.T) *counter {
	t.Helper()
	head := must.Get(ncm.New(ncm.Config{Metric: ncm.Euclidean, Temperature: 1}))(t)
	must.Do(t, head.Learn(context.Background(), blas32.General{Rows: 2, Cols: 1, Stride: 1, Data: []float32{-1, 1}},
		[]string{"left", "right"}))
	return &counter{Head: head}
}

// many returns n rows in folders named after classes.
type many int

func (many) Provenance() embedding.Provenance { return embedding.Provenance{Dim: 1} }

func (n many) Each(_ context.Context, emit func(embedding.Item) error) (embedding.Outcome, error) {
	for i := range int(n) {
		s := dataset.Sample{Path: fmt.Sprintf("%04d.jpg", i), Label: []string{"left", "right", "up"}[i%3]}
		if err := emit(embedding.Item{Sample: s, Vector: []float32{float32(i-int(n)/2) / 100}}); err != nil {
			return embedding.Outcome{}, err
		}
	}
	return embedding.Outcome{}, nil
}

// TestARowIsScoredOnce: labels, class folders, evaluation, ranking and page
// share one scoring pass. Batches hold 64 rows, so the last is padded.
func TestARowIsScoredOnce(t *testing.T) {
	const n, padded = 2500, 2560
	head, out := newCounter(t), t.TempDir()
	evaluation := must.Get(label.NewEvaluation(head.Classes(), false))(t)
	c := rank.DefaultConfig()
	c.By = rank.LabelError
	ranking := must.Get(rank.New(c, head.Classes()))(t)
	tree := must.Get(organise.NewTree(organise.Links, out, filepath.Join(out, "by-class")))(t)
	page := report.NewSink(context.Background(), report.Page{Classes: []report.Class{{Name: "left"}, {Name: "right"}}})
	page.File, page.Evaluation, page.Threads = filepath.Join(out, "report.html"), evaluation, 2
	// many of the most confident images are missing; others of their group replace them
	page.Picture = func(s dataset.Sample) ([]byte, error) {
		if strings.HasSuffix(s.Path, "0.jpg") && !strings.HasPrefix(s.Path, "12") {
			return nil, errors.New("the file is gone")
		}
		return []byte(s.Path), nil
	}
	summary := must.Get(label.Job{
		Config: label.DefaultConfig(), Head: head, Images: many(n),
		Out:   filepath.Join(out, "labels"),
		Sinks: []label.Sink{tree, evaluation, ranking, page},
	}.Run(context.Background()))(t)
	if got := head.rows.Load(); got != padded {
		t.Errorf("%d rows scored for %d images, want %d", got, n, padded)
	}
	if summary.Labelled != n || evaluation.Known.Rows != 1667 || evaluation.Unknown.Rows != 833 ||
		len(ranking.Entries) != 1667 {
		t.Errorf("%d labelled, %+v known, %+v unknown, %d ranked", summary.Labelled, evaluation.Known,
			evaluation.Unknown, len(ranking.Entries))
	}
	html := must.Get(os.ReadFile(page.File))(t)
	tiles, pictures := strings.Count(string(html), `<li class="card`),
		strings.Count(string(html), `src="data:image/jpeg;base64,`)
	if tiles != 2000 || pictures != tiles {
		t.Errorf("%d tiles, %d with a picture", tiles, pictures)
	}
}

// TestTileWithoutPicture: if there is no other image to show, the tile states
// why it has no picture.
func TestTileWithoutPicture(t *testing.T) {
	head := newCounter(t)
	evaluation := must.Get(label.NewEvaluation(head.Classes(), true))(t)
	page := report.NewSink(context.Background(), report.Page{})
	page.File, page.Evaluation = filepath.Join(t.TempDir(), "new", "report.html"), evaluation
	page.Picture = func(dataset.Sample) ([]byte, error) { return nil, errors.New("the file is gone") }
	pass := label.Pass{Scorer: label.Scorer{Head: head}, Rows: many(3),
		Sinks: []label.Sink{evaluation, page}}
	must.Get(pass.Run(context.Background()))(t)
	html, err := os.ReadFile(page.File)
	if err != nil || strings.Count(string(html), `<span class="blank">the file is gone</span>`) != 3 {
		t.Errorf("%v\n%s", err, html)
	}
}
