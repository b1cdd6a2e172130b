package main

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/eval/metrics"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/report"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/preprocess"
)

// A labelPage is the report of a labelling run, made as it goes on.
type labelPage struct {
	*workbench
	ctx    context.Context
	images *dataset.Source
	pre    *preprocess.Preprocessor
	page   report.Page
	shown  *report.Selection
	truth  truth
}

func (w *workbench) newLabelPage(ctx context.Context, m *model.Model, e *eye, images *dataset.Source) (*labelPage, error) {
	p := &labelPage{workbench: w, ctx: ctx, images: images, pre: e.pre, page: w.pageOf(m)}
	p.page.Title = "Labels"
	p.page.MaxThumbnails = w.config.Label.Thumbnails
	p.shown = report.NewSelection(p.page)
	var err error
	p.truth, err = newTruth(m.Predictor)
	return p, err
}

// Put implements label.Sink. A folder whose name is a class of the model says
// what its photos show; other names say nothing.
func (p *labelPage) Put(done label.Labelled) error {
	q := card(done.Prediction)
	q.Path, q.Rejected = done.Path, done.Row.Rejected
	if given := dataset.EscapePath(done.Given); p.truth.known[given] {
		q.Truth = given
	}
	p.page.Summary.Labelled++
	p.shown.Add(q)
	return p.truth.add(q.Truth, done.Vector)
}

// Commit implements label.Sink: it makes the thumbnails and writes the page.
func (p *labelPage) Commit(failed []dataset.Problem) error {
	var err error
	if p.page.Evaluation, err = p.truth.report(); err != nil {
		return err
	}
	p.shown.Fill(&p.page)
	if err := p.thumbnails(); err != nil {
		return err
	}
	found, err := p.images.Outcome()
	if err != nil {
		return err
	}
	for _, problem := range failed {
		p.page.Errors = append(p.page.Errors, report.Failure{Path: problem.Path, Reason: problem.Err.Error()})
	}
	for kind, n := range found.Skipped {
		p.page.Skipped = append(p.page.Skipped, report.Skip{Kind: kind, N: n})
	}
	slices.SortFunc(p.page.Skipped, func(a, b report.Skip) int { return cmp.Compare(a.Kind, b.Kind) })
	p.page.Summary.Failed = len(p.page.Errors)
	return writeWhole(filepath.Join(p.config.Out, "report.html"), func(f *atomicfile.File) error { return report.Write(f, p.page) })
}

// Abort implements label.Sink: nothing was written.
func (p *labelPage) Abort() {}

func (p *labelPage) thumbnails() error {
	group, ctx := errgroup.WithContext(p.ctx)
	group.SetLimit(p.config.Workers())
	for i := range p.page.Predictions {
		group.Go(func() error {
			if ctx.Err() == nil {
				p.page.Predictions[i].Thumbnail = p.thumbnail(p.page.Predictions[i].Path, p.pre.Thumbnail)
			}
			return ctx.Err()
		})
	}
	return group.Wait()
}

// A truth compares the head with what folders say, in memory that does not
// grow with the number of images.
type truth struct {
	head    classifier.Head
	known   map[string]bool
	sums    *metrics.Accumulator
	n       int
	labels  []string
	vectors []float32
}

func newTruth(head classifier.Head) (truth, error) {
	t := truth{head: head, known: map[string]bool{}}
	for _, class := range head.Classes() {
		t.known[class] = true
	}
	var err error
	t.sums, err = metrics.NewAccumulator(head.Classes())
	return t, err
}

// add takes an embedding whose class is known; "" is nothing to add.
func (t *truth) add(class string, vector []float32) error {
	if class == "" {
		return nil
	}
	t.n++
	t.labels = append(t.labels, class)
	t.vectors = append(t.vectors, vector...)
	if len(t.labels) < 256 {
		return nil
	}
	return t.flush()
}

func (t *truth) flush() error {
	d := t.head.Dim()
	x := blas32.General{Rows: len(t.labels), Cols: d, Stride: d, Data: t.vectors}
	err := classifier.Batches(t.head, x, func(first int, logProb blas64.General) error {
		return t.sums.Add(t.labels[first:first+logProb.Rows], logProb, nil)
	})
	t.labels, t.vectors = t.labels[:0], t.vectors[:0]
	return err
}

// report is nil when no class was known.
func (t *truth) report() (*metrics.Report, error) {
	if t.n == 0 {
		return nil, nil
	}
	if err := t.flush(); err != nil {
		return nil, err
	}
	return t.sums.Report()
}
