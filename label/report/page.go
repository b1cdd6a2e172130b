package report

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/extractor/backbone"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/metrics"
	"github.com/seed-90d10d51/pipeline/model"
)

const (
	// defaultMaxThumbnails limits a page to about 20 MB.
	defaultMaxThumbnails = 2000
	// defaultUncertainMargin separates the predictions worth a look.
	defaultUncertainMargin = 0.2
	// maxMatrixClasses is the largest number of classes for which the full
	// confusion matrix is shown.
	maxMatrixClasses = 150
)

// Page is the content of a report. The zero value is a valid, empty page.
type Page struct {
	Title, Subtitle string
	Summary         Summary
	// Classes are those that the model knows, in column order.
	Classes []Class
	// Predictions may come in any order; every image appears once.
	Predictions []Prediction
	// Evaluation is nil if no truth is known; the confusion matrix, per-class
	// accuracy and calibration are then left out.
	Evaluation *metrics.Report
	// Activity is a figure of events by hour of the day, nil for none.
	Activity *Figure
	Errors   []Failure
	Skipped  []Skip
	// Settings record how the results were computed: options, versions, hashes.
	Settings []Setting
	Notes    []string
	// MaxThumbnails limits the number of cards; 0 means 2000.
	// The page says how many were left out.
	MaxThumbnails int
	// Threshold is the novelty above which a prediction is rejected, nil if none
	// is.
	Threshold *float64
	// UncertainMargin is the margin below which a prediction is uncertain and
	// shown early; 0 means DefaultUncertainMargin.
	UncertainMargin float64
	// seen counts all predictions if Predictions is a selection.
	seen *census
}

// census returns the counts of all predictions, including those that a
// selection dropped.
func (p Page) census() *census {
	if p.seen != nil {
		return p.seen
	}
	c := newCensus(p.Classes)
	for _, q := range p.Predictions {
		c.add(p.groupOf(q), q)
	}
	return c
}

// sizes returns the number of predictions in every group.
func (p Page) sizes() map[string]int { return p.census().groups }

// total returns the number of all these predictions.
func (p Page) total() int { return sum(maps.Values(p.sizes())) }

// The groups that come before those of the classes.
const (
	rejected  = "rejected"
	uncertain = "uncertain"
)

// groupOf returns the name of the group that a prediction belongs to.
func (p Page) groupOf(q Prediction) string {
	switch {
	case q.Rejected:
		return rejected
	case q.Margin < p.uncertainMargin() && !q.Decided:
		return uncertain
	}
	return "class " + q.Predicted
}

// A Figure is a picture in SVG, and in words what it shows.
type Figure struct {
	SVG []byte
	Alt string
}

// Summary holds the facts of the run. Zero values are not shown.
type Summary struct {
	Labelled, Failed int
	Elapsed          time.Duration
	Backbone, Method string
	Sessions         []Session
}

// Session is one step of training.
type Session struct {
	Classes, Images int
}

// Class is a class of the model.
type Class struct {
	Name string
	// New marks classes that were added after the base session.
	New bool
}

// Prediction is one labelled image.
type Prediction struct {
	Path string
	// Box is the part of the photo that was labelled, nil for all of it.
	Box *dataset.Box
	// Original is the address of the photo relative to the page, "" if it has
	// none.
	Original string
	// Thumbnail is a small JPEG; without one the card shows NoPicture, the
	// reason, instead.
	Thumbnail []byte
	NoPicture string
	Predicted string
	// Truth is "" if unknown. A truth outside Page.Classes is an unknown class,
	// which should be rejected.
	Truth       string
	Probability float64
	Margin      float64 // best minus second-best probability
	EntropyNats float64
	Novelty     float64 // higher is less known
	Rejected    bool
	Decided     bool                // by people, so that Predicted is certain
	TopK        []classifier.Ranked // best first, the predicted class included
}

// Failure is an image that could not be labelled.
type Failure struct{ Path, Reason string }

// Skip counts files that are not images, by kind.
type Skip struct {
	Kind string
	N    int
}

// Setting is a row of the table of settings.
type Setting struct{ Name, Value string }

// Validate reports what would make the page misleading.
func (p Page) Validate() error {
	if p.MaxThumbnails < 0 {
		return fmt.Errorf("report: MaxThumbnails is %d, must not be negative", p.MaxThumbnails)
	}
	if !(p.UncertainMargin >= 0 && p.UncertainMargin <= 1) {
		return fmt.Errorf("report: UncertainMargin is %v, must be in [0, 1]", p.UncertainMargin)
	}
	return p.validateEvaluation()
}

func (p Page) validateEvaluation() error {
	if p.Evaluation == nil {
		return nil
	}
	n := len(p.Evaluation.Classes)
	if len(p.Evaluation.Confusion) != n {
		return fmt.Errorf("report: confusion matrix has %d rows for %d classes", len(p.Evaluation.Confusion), n)
	}
	for i, row := range p.Evaluation.Confusion {
		if len(row) != n {
			return fmt.Errorf("report: row %d of the confusion matrix has %d columns for %d classes", i, len(row), n)
		}
	}
	return nil
}

func (p Page) maxThumbnails() int { return cmp.Or(p.MaxThumbnails, defaultMaxThumbnails) }

func (p Page) uncertainMargin() float64 { return cmp.Or(p.UncertainMargin, defaultUncertainMargin) }

// A Sink builds the page of a run as it progresses, in memory bounded by the
// page's limit. It implements label.Sink.
type Sink struct {
	// File is where the page is written.
	File string
	// Root is the folder that the paths of the images are relative to; messages
	// on the page do not show it.
	Root string
	// Evaluation gives the true classes; it must come before this Sink among
	// the sinks.
	Evaluation *label.Evaluation
	// Count has the account that the page states; it must come before, too. Nil states none.
	Count *label.Count
	// Picture returns the thumbnail of an image, or of a box in one; Threads goroutines call
	// it concurrently.
	Picture func(dataset.Sample) ([]byte, error)
	Threads int

	ctx   context.Context
	page  Page
	shown *selection
}

// NewSink begins a page.
func NewSink(ctx context.Context, p Page) *Sink {
	return &Sink{ctx: ctx, page: p, shown: newSelection(p)}
}

// Put implements label.Sink.
func (s *Sink) Put(row label.Scored) error {
	p := row.Prediction
	if row.SetAside() {
		return nil
	}
	q := Prediction{
		Path: row.Sample.Path, Box: row.Sample.Box, Original: s.address(row.Sample.File()), Predicted: p.Label,
		Truth: s.Evaluation.Truth(row), Rejected: row.Rejected, Decided: row.By != "",
		Probability: p.Probability, Margin: p.Margin, EntropyNats: p.Entropy, Novelty: p.Novelty, TopK: p.TopK,
	}
	s.page.Summary.Labelled++
	s.shown.add(q)
	return nil
}

// Commit implements label.Sink: it creates the thumbnails and writes the page.
func (s *Sink) Commit(o embedding.Outcome) error {
	var err error
	if s.page.Evaluation, err = s.Evaluation.Report(); err != nil {
		return err
	}
	if s.Count != nil {
		s.page.Notes = append(s.Count.Account().Lines(), s.page.Notes...)
	}
	if err := s.shown.fill(&s.page, s.pictures); err != nil {
		return err
	}
	for _, problem := range o.Problems {
		reason := withoutRoot(problem.Err.Error(), s.Root)
		s.page.Errors = append(s.page.Errors, Failure{Path: problem.Path, Reason: reason})
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

// address returns where the photo is, seen from the page, as a relative URL; ""
// if there is no such way, as between two drives of Windows.
func (s *Sink) address(path string) string {
	from, err := filepath.Abs(filepath.Dir(s.File))
	if err != nil {
		return ""
	}
	to, err := filepath.Abs(dataset.FullPath(s.Root, path))
	if err != nil {
		return ""
	}
	relative, err := filepath.Rel(from, to)
	if err != nil {
		return ""
	}
	return "./" + (&url.URL{Path: filepath.ToSlash(relative)}).EscapedPath()
}

// pictures adds thumbnails.
func (s *Sink) pictures(predictions []Prediction) error {
	return each(s.ctx, s.Threads, len(predictions), func(i int) {
		q := &predictions[i]
		q.Thumbnail, q.NoPicture = thumbnail(s.Root, func() ([]byte, error) {
			return s.Picture(dataset.Sample{Path: q.Path, Box: q.Box})
		})
	})
}

// PageOf returns a page with the facts known from the model alone; version is
// that of the program.
func PageOf(m *model.Model, version string) Page {
	from := m.Provenance.Backbone
	page := Page{
		Subtitle: plural(len(m.Classes()), "class", "classes") + ", learned in " +
			plural(len(m.Sessions), "session", "sessions"),
		Summary: Summary{Method: m.Method, Backbone: from.Name},
		Settings: []Setting{{Name: "classifier", Value: m.Method + " " + string(m.HeadConfig)},
			{Name: "pipeline", Value: version}},
	}
	if from.SHA256 != "" {
		page.Settings = append(page.Settings, Setting{Name: "backbone SHA-256", Value: from.SHA256})
	}
	if on, err := backbone.TrainedOn(from.SHA256); err == nil && on == backbone.MiniImageNetBase {
		page.Notes = append(page.Notes, "The network of this model has seen 60 classes: train again without naming it.")
	}
	for _, s := range m.Sessions {
		page.Summary.Sessions = append(page.Summary.Sessions, Session{Classes: len(s.NewClasses), Images: s.Count()})
	}
	for _, c := range m.ClassSizes() {
		page.Classes = append(page.Classes, Class{Name: c.Name, New: c.Session > 0})
	}
	return page
}
