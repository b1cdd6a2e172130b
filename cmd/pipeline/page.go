package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/eval/metrics"
	"github.com/seed-90d10d51/pipeline/extractor/backbone"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/label/report"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/preprocess"
)

const thumbnailSide = 160

// writePage writes the evaluation as report.html into a folder.
func (w *workbench) writePage(ctx context.Context, dir string, m *model.Model, c collection, evaluation *metrics.Report) error {
	predictions, err := classifier.Predict(m.Predictor, c.X, 3)
	if err != nil {
		return err
	}
	page := w.pageOf(m)
	page.Title = "Evaluation"
	page.Evaluation = evaluation
	page.Summary.Labelled, page.Summary.Failed = c.X.Rows, len(c.problems)
	if page.Predictions, err = w.cards(ctx, m, c, predictions); err != nil {
		return err
	}
	for _, p := range c.problems {
		page.Errors = append(page.Errors, report.Failure{Path: p.Path, Reason: p.Err.Error()})
	}
	for kind, n := range c.skipped {
		page.Skipped = append(page.Skipped, report.Skip{Kind: kind, N: n})
	}
	slices.SortFunc(page.Skipped, func(a, b report.Skip) int { return cmp.Compare(a.Kind, b.Kind) })
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return writeWhole(filepath.Join(dir, "report.html"), func(f *atomicfile.File) error { return report.Write(f, page) })
}

// pageOf is a page with everything that the model alone can say.
func (w *workbench) pageOf(m *model.Model) report.Page {
	page := report.Page{
		Subtitle: fmt.Sprintf("%d classes, learned in %d sessions", len(m.Classes()), len(m.Sessions)),
		Summary:  report.Summary{Method: m.Method},
		Settings: []report.Setting{{Name: "classifier", Value: m.Method + " " + string(m.HeadConfig)}, {Name: "pipeline", Value: version}},
	}
	if m.Backbone != nil {
		page.Summary.Backbone = m.Backbone.Name
		page.Settings = append(page.Settings, report.Setting{Name: "backbone SHA-256", Value: m.Backbone.SHA256})
		if m.Backbone.Name == backbone.Default {
			page.Notes = append(page.Notes, "The built-in backbone is for trying things out: take an exported CLIP, DINOv2 or ResNet for real photos.")
		}
	}
	for _, s := range m.Sessions {
		page.Summary.Sessions = append(page.Summary.Sessions, report.Session{Classes: len(s.NewClasses), Images: s.Count()})
	}
	for _, c := range m.ClassSizes() {
		page.Classes = append(page.Classes, report.Class{Name: c.Name, New: c.Session > 0})
	}
	return page
}

// cards makes one card a prediction. Thumbnails are made on all cores.
func (w *workbench) cards(ctx context.Context, m *model.Model, c collection, predictions []classifier.Prediction) ([]report.Prediction, error) {
	threshold, err := m.Threshold(w.config.Label.Reject)
	if err != nil {
		return nil, err
	}
	cards := make([]report.Prediction, len(predictions))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(w.config.Workers())
	for i, p := range predictions {
		cards[i] = card(p)
		cards[i].Path, cards[i].Truth, cards[i].Rejected = c.Paths[i], c.Labels[i], p.Novelty > threshold
		if i >= report.DefaultMaxThumbnails {
			continue
		}
		group.Go(func() error {
			cards[i].Thumbnail = w.thumbnail(c.Paths[i], w.plainThumbnail)
			return ctx.Err()
		})
	}
	return cards, group.Wait()
}

func card(p classifier.Prediction) report.Prediction {
	r := report.Prediction{
		Predicted: p.Label, Probability: p.Probability, Margin: p.Margin,
		EntropyNats: p.Entropy, Novelty: p.Novelty,
	}
	for _, t := range p.TopK {
		r.TopK = append(r.TopK, report.Ranked{Label: t.Label, Probability: t.Probability})
	}
	return r
}

// thumbnail is a small picture for the page, none where the file is gone by
// now.
func (w *workbench) thumbnail(path string, shrink func(file []byte, side int) ([]byte, error)) []byte {
	file, err := os.ReadFile(dataset.FullPath(w.config.Images, path))
	if err != nil {
		return nil
	}
	jpeg, err := shrink(file, thumbnailSide)
	if err != nil {
		return nil
	}
	return jpeg
}

func (w *workbench) plainThumbnail(file []byte, side int) ([]byte, error) {
	return preprocess.Thumbnail(file, w.config.Preprocess.Limits(), side)
}
