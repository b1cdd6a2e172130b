package report

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/extractor/backbone"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/model"
)

// A Sink builds the page of a run as it progresses, in memory bounded by the
// page's limit. It implements label.Sink.
type Sink struct {
	// File is where the page is written.
	File string
	// Evaluation gives the true classes; it must come before this Sink among
	// the sinks.
	Evaluation *label.Evaluation
	// Picture returns the thumbnail of an image; Threads goroutines call it
	// concurrently.
	Picture func(path string) ([]byte, error)
	Threads int

	ctx   context.Context
	page  Page
	shown *Selection
}

// NewSink begins a page.
func NewSink(ctx context.Context, p Page) *Sink {
	return &Sink{ctx: ctx, page: p, shown: NewSelection(p)}
}

// Put implements label.Sink.
func (s *Sink) Put(row label.Scored) error {
	p := row.Prediction
	q := Prediction{
		Path: row.Sample.Path, Predicted: p.Label, Truth: s.Evaluation.Truth(row.Sample), Rejected: row.Rejected,
		Probability: p.Probability, Margin: p.Margin, EntropyNats: p.Entropy, Novelty: p.Novelty, TopK: p.TopK,
	}
	s.page.Summary.Labelled++
	s.shown.Add(q)
	return nil
}

// Commit implements label.Sink: it creates the thumbnails and writes the page.
func (s *Sink) Commit(o embed.Outcome) error {
	var err error
	if s.page.Evaluation, err = s.Evaluation.Report(); err != nil {
		return err
	}
	if err := s.shown.Fill(&s.page, s.pictures); err != nil {
		return err
	}
	for _, problem := range o.Problems {
		s.page.Errors = append(s.page.Errors, Failure{Path: problem.Path, Reason: problem.Err.Error()})
	}
	for kind, n := range o.Skipped {
		s.page.Skipped = append(s.page.Skipped, Skip{Kind: kind, N: n})
	}
	slices.SortFunc(s.page.Skipped, func(a, b Skip) int { return cmp.Compare(a.Kind, b.Kind) })
	s.page.Summary.Failed = len(s.page.Errors)
	if err := os.MkdirAll(filepath.Dir(s.File), 0o755); err != nil {
		return err
	}
	return atomicfile.Write(s.File, func(f *atomicfile.File) error { return Write(f, s.page) })
}

// Abort implements label.Sink.
func (s *Sink) Abort() {}

// pictures adds thumbnails.
func (s *Sink) pictures(predictions []Prediction) error {
	group, ctx := errgroup.WithContext(s.ctx)
	group.SetLimit(max(1, s.Threads))
	for i := range predictions {
		group.Go(func() error {
			q := &predictions[i]
			picture, err := s.Picture(q.Path)
			if err != nil {
				q.NoPicture = err.Error()
			}
			q.Thumbnail = picture
			return ctx.Err()
		})
	}
	return group.Wait()
}

// PageOf returns a page with the facts known from the model alone; version is
// that of the program.
func PageOf(m *model.Model, version string) Page {
	from := m.Provenance.Backbone
	page := Page{
		Subtitle: plural(len(m.Classes()), "class", "classes") + ", learned in " + plural(len(m.Sessions), "session", "sessions"),
		Summary:  Summary{Method: m.Method, Backbone: from.Name},
		Settings: []Setting{{Name: "classifier", Value: m.Method + " " + string(m.HeadConfig)}, {Name: "pipeline", Value: version}},
	}
	if from.SHA256 != "" {
		page.Settings = append(page.Settings, Setting{Name: "backbone SHA-256", Value: from.SHA256})
	}
	if from.Name == backbone.Default {
		page.Notes = append(page.Notes, "The built-in backbone is for trying things out: use an exported CLIP, DINOv2 or ResNet for real photos.")
	}
	for _, s := range m.Sessions {
		page.Summary.Sessions = append(page.Summary.Sessions, Session{Classes: len(s.NewClasses), Images: s.Count()})
	}
	for _, c := range m.ClassSizes() {
		page.Classes = append(page.Classes, Class{Name: c.Name, New: c.Session > 0})
	}
	return page
}
