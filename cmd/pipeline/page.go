package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/metrics"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/preprocess"
	"github.com/seed-90d10d51/pipeline/report"
)

const thumbnailSide = 160

// writePage writes the evaluation as report.html into a folder.
func (w *workbench) writePage(dir string, m *model.Model, c collection, evaluation *metrics.Report) error {
	predictions, err := classifier.Predict(m.Head, c.X, 3)
	if err != nil {
		return err
	}
	page := w.pageOf(m)
	page.Title = "Evaluation"
	page.Evaluation = evaluation
	page.Summary.Labelled, page.Summary.Failed = c.X.Rows, len(c.problems)
	page.Predictions = w.cards(m, c, predictions)
	for _, p := range c.problems {
		page.Errors = append(page.Errors, report.Failure{Path: p.Path, Reason: p.Err.Error()})
	}
	for kind, n := range c.skipped {
		page.Skipped = append(page.Skipped, report.Skip{Kind: kind, N: n})
	}
	slices.SortFunc(page.Skipped, func(a, b report.Skip) int { return slices.Compare([]string{a.Kind}, []string{b.Kind}) })
	return writeIn(dir, "report.html", func(f *atomicfile.File) error { return report.Write(f, page) })
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
	}
	for _, s := range m.Sessions {
		page.Summary.Sessions = append(page.Summary.Sessions, report.Session{Classes: len(s.NewClasses), Images: s.Count()})
	}
	for _, c := range m.ClassSizes() {
		page.Classes = append(page.Classes, report.Class{Name: c.Name, New: c.Session > 0})
	}
	return page
}

func (w *workbench) cards(m *model.Model, c collection, predictions []classifier.Prediction) []report.Prediction {
	cards := make([]report.Prediction, len(predictions))
	for i, p := range predictions {
		rejected, err := m.Reject(p.Novelty, w.config.Label.Reject)
		cards[i] = report.Prediction{
			Path: c.Paths[i], Thumbnail: w.thumbnail(i, c.Paths[i]), Truth: c.Labels[i],
			Predicted: p.Label, Probability: p.Probability, Margin: p.Margin,
			EntropyNats: p.Entropy, Novelty: p.Novelty, Rejected: rejected && err == nil,
		}
		for _, t := range p.TopK {
			cards[i].TopK = append(cards[i].TopK, report.Ranked{Label: t.Label, Probability: t.Probability})
		}
	}
	return cards
}

// thumbnail is a small picture for the page, none where the file is gone by
// now or beyond the number of pictures that the page shows.
func (w *workbench) thumbnail(i int, path string) []byte {
	if i >= report.DefaultMaxThumbnails {
		return nil
	}
	file, err := os.ReadFile(dataset.FullPath(w.config.Images, path))
	if err != nil {
		return nil
	}
	jpeg, err := preprocess.Thumbnail(file, w.config.Preprocess.Limits(), thumbnailSide)
	if err != nil {
		return nil
	}
	return jpeg
}
