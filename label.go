package pipeline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/adapt"
	"github.com/seed-90d10d51/pipeline/label/events"
	"github.com/seed-90d10d51/pipeline/label/export"
	"github.com/seed-90d10d51/pipeline/label/organise"
	"github.com/seed-90d10d51/pipeline/label/report"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/model/advice"
	"github.com/seed-90d10d51/pipeline/teach"
)

// A LabelRequest says what to label and what to write about it. Start from NewLabelRequest.
type LabelRequest struct {
	// Model is the file of the model; what was decided with it is the class of a photo.
	Model string
	From  Source
	// Out is the folder of the results.
	Out string
	// Settings select the results. Report is the folder of report.html, "" for none.
	Settings label.Config
	Report   string
	// Sinks receive every scored row, too, and are committed or aborted however Label ends.
	Sinks    []label.Sink
	OldShare model.OldShare // as in LearnRequest
	// Seed divides the photos into parts.
	Seed uint64
}

// NewLabelRequest returns a request with the defaults.
func NewLabelRequest(model string, from Source, out string) LabelRequest {
	return LabelRequest{Model: model, From: from, Out: out, Settings: label.DefaultConfig()}
}

// Validate returns a UsageError if settings contradict each other.
func (q LabelRequest) Validate() error {
	c := q.Settings
	if q.From.Features != "" && (c.Organise != "" || c.XMP || c.Report) {
		return misuse("{organise}, {xmp} and {report} need the photos, and features have none: give {images}")
	}
	if c.Events > 0 && q.From.Features != "" {
		return misuse("{events} needs to know when photos were taken, and features do not say it: give {images}")
	}
	if q.From.Scan.Shard != "" {
		switch {
		case c.Events > 0:
			return misuse("{events} looks at all photos of a camera, so it cannot use {shard}: events would be cut")
		case c.Split != "":
			return misuse("{split} keeps like photos together, wherever they lie, so it cannot use {shard}")
		}
	}
	if err := q.checkOut(); err != nil {
		return err
	}
	return q.checkExports()
}

// checkOut refuses a folder such as labels.csv, which would have the table inside.
func (q LabelRequest) checkOut() error {
	kind := filepath.Ext(q.Out)
	if !slices.Contains([]string{".csv", ".jsonl", ".parquet", ".xlsx"}, kind) {
		return nil
	}
	if _, err := os.Stat(q.Out); !errors.Is(err, os.ErrNotExist) {
		return nil
	}
	folder := strings.TrimSuffix(q.Out, kind)
	return misuse("{out} names a folder: with {out} %s the table is %s", folder, filepath.Join(folder, "labels"+kind))
}

// Labelled is what Label returns.
type Labelled struct {
	label.Summary
	// Dir is the folder of the results: Out, or that of the shard in it.
	Dir string

	lines lines
}

// Lines say what was labelled, for a person.
func (l *Labelled) Lines() []string { return l.lines }

// Label labels photos with a model and writes the results. A run that was stopped resumes. The
// error is a PartialError if some photos could not be read.
func (s *Studio) Label(ctx context.Context, q LabelRequest) (l *Labelled, err error) {
	defer func() {
		for _, sink := range q.Sinks {
			sink.Abort() // does nothing after Commit
		}
	}()
	if err := q.Validate(); err != nil {
		return nil, err
	}
	for _, dir := range []string{q.Out, q.Report} { // before hours of work
		if err := WritableFolder(dir); err != nil {
			return nil, err
		}
	}
	r := s.begin(ctx)
	m, err := r.loadShared(q.Model, q.OldShare)
	if err != nil {
		return nil, err
	}
	dir, err := q.From.shardFolder(q.Out)
	if err != nil {
		return nil, err
	}
	from := r.inputs(q.From, q.Out)
	from.detected = true
	in, err := from.open(ctx, m, anyImages)
	if err != nil {
		return nil, err
	}
	defer closeInto(in, &err)
	l = &Labelled{Dir: dir}
	work := &labelling{run: r, LabelRequest: q, model: m, in: in, dir: dir}
	defer func() { work.kept.Close() }()
	job, err := work.job(ctx)
	if err != nil {
		return nil, err
	}
	job.Sinks = append(job.Sinks, q.Sinks...)
	if l.Summary, err = job.Run(ctx); err != nil {
		return nil, err
	}
	l.summary(in.boxed)
	return l, partial(l.Failed, filepath.Join(dir, "errors.csv"))
}

// loadShared loads a model with another share of photos of old classes, unless that is 0.
func (r *run) loadShared(file string, share model.OldShare) (*model.Model, error) {
	m, err := r.load(file)
	if err == nil && share != 0 {
		m.Predictor.OldShare = share
	}
	return m, err
}

// A labelling is a LabelRequest that is being carried out.
type labelling struct {
	*run
	LabelRequest
	model *model.Model
	in    input
	dir   string
	kept  *label.Kept // the rows, where all have to be seen first
}

// note says something of the results, which goes into their summary, too.
func (l *labelling) note(job *label.Job, text string) {
	l.say("%s", text)
	job.Notes = append(job.Notes, text)
}

// job returns the job of labelling, which may adapt to the images first.
func (l *labelling) job(ctx context.Context) (job label.Job, err error) {
	c, m := l.Settings, l.model
	job = label.Job{
		Config: c, Head: m.Predictor, Images: l.in, Out: l.dir, Method: m.Method, Model: m.SHA256(), Notes: l.in.notes,
		Held: m.Predictor.Calibration, Boxed: l.in.boxed,
		Count: label.NewCount(m.Predictor.Calibration, m.ClassSizes()),
	}
	if job.Decided, err = teach.Decided(l.Model, m); err != nil {
		return job, err
	}
	if job.Count.Measured, err = teach.Measured(l.Model, m); err != nil {
		return job, err
	}
	if share := m.Predictor.OldShare; share != 0 {
		job.Notes = append(job.Notes, share.Note())
	}
	threshold, err := m.Threshold(c.Reject)
	if err != nil {
		return job, err
	}
	job.Threshold = label.Above(threshold)
	if note := advice.Rejected(m, c.Reject); note != "" {
		l.note(&job, note)
	}
	if note := advice.New(m); note != "" {
		l.note(&job, note)
	}
	if err := l.look(ctx, &job); err != nil {
		return job, err
	}
	places, err := deployments(c)
	if err != nil {
		return job, err
	}
	l.notePlaces(ctx, places)
	page := report.PageOf(m, l.version)
	var seen []*events.Event
	if c.Events > 0 {
		if seen, err = l.events(ctx, places, &job, &page); err != nil {
			return job, err
		}
	}
	if c.Only != "" {
		if l.kept == nil {
			job.Images = decidedOnly{l.in, job.Decided}
		} else {
			l.kept.Drop(func(d *label.Decision) bool { return d == nil || !d.Given() })
		}
	}
	if c.Split != "" {
		if err := l.split(ctx, &job); err != nil {
			return job, err
		}
	}
	return job, l.addSinks(ctx, &job, page, places, seen)
}

// look embeds and scores all rows, and keeps them, where all have to be seen before the first is
// labelled.
func (l *labelling) look(ctx context.Context, job *label.Job) error {
	c := l.Settings
	adapts := c.Adapt && l.From.Scan.Shard == "" // shards would differ
	if !adapts && c.Events == 0 && c.Split == "" {
		return nil
	}
	temp, err := l.folder("label")
	if err != nil {
		return err
	}
	scorer := job.Pass().Scorer
	if !adapts {
		if l.kept, err = label.Keep(ctx, scorer, l.in, temp, c.Split != ""); err == nil {
			job.Images = l.kept
		}
		return err
	}
	head, kept, err := adapt.Fit(ctx, l.model, scorer, l.in, temp)
	if err != nil {
		return err
	}
	l.kept, job.Head, job.Images, job.Adapted = kept, head, kept, head.Adapted()
	if job.Adapted != nil {
		l.say("%s", head.Note())
	}
	return nil
}

// addSinks adds what writes the results besides the tables, or nothing with an error.
func (l *labelling) addSinks(ctx context.Context, job *label.Job, page report.Page, places export.Deployments,
	seen []*events.Event) (err error) {
	defer func() {
		if err != nil {
			for _, s := range job.Sinks {
				s.Abort()
			}
		}
	}()
	if err := l.addTree(job); err != nil {
		return err
	}
	if err := l.addExports(ctx, places, seen, job); err != nil || !l.Settings.Report {
		return err
	}
	truth, err := label.NewEvaluation(l.model.Classes(), true)
	if err != nil {
		return err
	}
	truth.Learned = learnedBy(l.model)
	page.Title, page.MaxThumbnails = pageTitle(l.Model, l.in.root), l.Settings.Thumbnails
	page.Subtitle = "Labels; " + page.Subtitle
	sink := l.page(ctx, page, l.in, l.Report, truth, job.Threshold.Novelty())
	sink.Count = job.Count
	job.Sinks = append(job.Sinks, truth, sink)
	return nil
}

// summary describes the results in their folder.
func (l *Labelled) summary(boxed *dataset.BoxesFound) {
	s, say := l.Summary, &l.lines
	say.add("labelled %s (%d rejected, %d failed) into %s", items(s.Labelled, boxed), s.Rejected, s.Failed, l.Dir)
	if p := s.Photos; p != nil {
		say.add("they are on %d of %s; the others are empty", p.Photos-p.Empty, plural(p.Photos, "photo", "photos"))
	}
	for _, line := range s.Account.Lines() {
		say.add("%s", line)
	}
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(s.Skipped)) {
		if n := s.Skipped[kind]; kind == "sidecar" {
			kinds = append(kinds, fmt.Sprintf("%d text or sidecar", n))
		} else if kind != "filtered" { // those are not what was asked for
			kinds = append(kinds, fmt.Sprintf("%d %s", n, kind))
		}
	}
	if len(kinds) > 0 {
		say.add("skipped: %s", strings.Join(kinds, ", "))
	}
}

// crop returns a function that makes a picture of what the backbone sees of a box.
func (in input) crop(ctx context.Context) func(file string, b *dataset.Box) ([]byte, error) {
	return func(file string, b *dataset.Box) ([]byte, error) { return in.embedder.Crop(ctx, file, b) }
}

// empty are the photos in which a detector found nothing. None of them is decided.
func (in input) empty(c label.Config) (photos []dataset.BoxedPhoto) {
	if in.boxed == nil || c.Only != "" {
		return nil
	}
	for _, p := range in.boxed.Photos {
		if p.Boxes == 0 {
			photos = append(photos, p)
		}
	}
	return photos
}

// addTree adds folders of the classes, and sidecars, if they are asked for.
func (l *labelling) addTree(job *label.Job) error {
	c, in := l.Settings, l.in
	if how := c.Organise; how != "" {
		if err := os.MkdirAll(l.dir, 0o755); err != nil {
			return fmt.Errorf("output folder: %w", err)
		}
		tree, err := organise.NewTree(organise.How(how), in.root, filepath.Join(l.dir, "by-class"), in.empty(c)...)
		if err != nil {
			return err
		}
		l.warnLinks(organise.How(how), tree.How())
		job.Sinks = append(job.Sinks, tree)
		kept, err := teach.Kept(l.Model, l.model)
		if err != nil {
			return err
		}
		changes, err := organise.NewChanges(l.dir, kept)
		if err != nil {
			return err
		}
		job.Sinks = append(job.Sinks, changes)
	}
	if c.XMP {
		job.Sinks = append(job.Sinks, organise.NewSidecars(in.root, in.boxed))
	}
	return nil
}

// warnLinks says so if folders do not have the symbolic links that they should.
func (r *run) warnLinks(asked, made organise.How) {
	if asked != made {
		r.log.Warn("symbolic links cannot be made here (on Windows, turn on developer mode): the folders have " +
			"further names of the photos instead, so an edit of one changes the photo; on another drive, copies")
	}
}

// WritableFolder returns an error if nothing can be written into a folder, or into
// the nearest one above it that exists. The empty name is no folder.
func WritableFolder(dir string) error {
	if dir == "" {
		return nil
	}
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) && dir != filepath.Dir(dir) {
		return WritableFolder(filepath.Dir(dir))
	}
	if err := atomicfile.Probe(dir); err != nil {
		return fmt.Errorf("nothing can be written into %s: %w", dir, err)
	}
	return nil
}
