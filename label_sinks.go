package pipeline

import (
	"context"
	"iter"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/events"
	"github.com/seed-90d10d51/pipeline/label/export"
	"github.com/seed-90d10d51/pipeline/label/report"
	"github.com/seed-90d10d51/pipeline/label/split"
	"github.com/seed-90d10d51/pipeline/label/survey"
	"github.com/seed-90d10d51/pipeline/preprocess/photometa"
)

// checkExports returns an error if what is to be written for other programs cannot be.
func (q LabelRequest) checkExports() error {
	c := q.Settings
	if i := slices.IndexFunc(c.Format, export.NeedsPhotos); i >= 0 && q.From.Features != "" {
		return misuse("{format} %s needs the photos, and features have none: give {images}", c.Format[i])
	}
	if c.Split != "" {
		if _, err := split.Parse(c.Split); err != nil {
			return &UsageError{err}
		}
	}
	if c.Deployments == "" {
		return nil
	}
	if !slices.Contains(c.Format, "camtrap-dp") && c.Events == 0 {
		return misuse("label.deployments is for {format} camtrap-dp and {events}, and neither is asked for")
	}
	_, err := deployments(c) // before hours of work
	return err
}

// deployments reads what people know of them, nothing without a file.
func deployments(c label.Config) (export.Deployments, error) {
	if c.Deployments == "" {
		return nil, nil
	}
	return export.ReadDeployments(c.Deployments)
}

// notePlaces says which deployments no photo is of: perhaps a name is written in another way. Those may be cameras
// where photos lie in no folder.
func (l *labelling) notePlaces(ctx context.Context, places export.Deployments) {
	if len(places) == 0 {
		return
	}
	left := maps.Clone(places)
	for photo := range l.in.photos(ctx) {
		if !strings.Contains(photo.Path, "/") {
			return
		}
		delete(left, events.StationOf(l.in.root, photo.Path, photometa.Shot{}))
	}
	if names := slices.Sorted(maps.Keys(left)); len(names) > 0 {
		l.log.Warn("deployments without photos: they are the first-level folders, letter by letter",
			"deployments", len(names), "the_first", names[0])
	}
}

// split divides the images of a job, and says how.
func (l *labelling) split(ctx context.Context, job *label.Job) error {
	shares, err := split.Parse(job.Config.Split)
	if err != nil {
		return err
	}
	plan, err := split.Deal(ctx, job.Pass(), shares, l.Seed)
	if err != nil {
		return err
	}
	job.Split, job.Splits = plan.Of, plan.Names()
	l.note(job, plan.String())
	return nil
}

// timed reports whether any photo has a time.
func timed(ctx context.Context, in input, shot func(file, taken string) photometa.Shot) bool {
	for s := range in.images.Samples(ctx) {
		if ctx.Err() != nil || !shot(dataset.FullPath(in.root, s.File()), s.Taken).Time.IsZero() {
			return true
		}
	}
	return false
}

// addExports adds what a job is to write for other programs. Of the events those count about which
// people decided if nothing else is asked for.
func (l *labelling) addExports(ctx context.Context, places export.Deployments, seen []*events.Event,
	job *label.Job) error {
	c, in, m := job.Config, l.in, l.model
	o := export.Options{
		Root: in.root, Dir: job.Out, Classes: m.Classes(), Model: m.Method + " " + m.SHA256()[:12], Splits: job.Splits,
		Now: time.Now, Deployments: places, Empty: in.empty(c), Events: seen,
		Shot: func(file, taken string) photometa.Shot { return events.ShotOf(file, taken, c.FileTimes) },
		Crop: in.crop(ctx),
		Size: func(file string) (width, height int, err error) { return in.embedder.Size(ctx, file) },
	}
	if c.Only != "" {
		o.Events = slices.DeleteFunc(slices.Clone(seen), func(e *events.Event) bool { return !e.Judged() })
	}
	if slices.Contains(c.Format, "camtrap-dp") && !timed(ctx, in, o.Shot) {
		return export.ErrNoTimes // before hours of work
	}
	sinks, err := export.Sinks(c.Format, o)
	job.Sinks = append(job.Sinks, sinks...)
	return err
}

const (
	// thumbnailSide is the longer side of a picture on a page.
	thumbnailSide = 160
	// reportName is the name of a report in its folder.
	reportName = "report.html"
)

// pageTitle names a page after its model and the folder of its photos.
func pageTitle(model, photos string) string {
	if full, err := filepath.Abs(photos); err == nil { // "." has no name
		photos = full
	}
	return strings.TrimSuffix(filepath.Base(model), ".model") + ": " + filepath.Base(photos)
}

// page returns a sink that writes report.html into a folder.
func (r *run) page(ctx context.Context, p report.Page, in input, dir string, truth *label.Evaluation,
	threshold float64) *report.Sink {
	if !math.IsInf(threshold, 1) {
		p.Threshold = &threshold
	}
	page := report.NewSink(ctx, p)
	page.Root = in.root
	page.File, page.Evaluation, page.Threads = filepath.Join(dir, reportName), truth, r.workers()
	page.Picture = in.picture(ctx)
	return page
}

// picture returns a function that makes the thumbnail of an image, or of a box in one.
func (in input) picture(ctx context.Context) func(dataset.Sample) ([]byte, error) {
	return func(s dataset.Sample) (jpeg []byte, err error) {
		file := dataset.FullPath(in.root, s.File())
		if s.Box != nil {
			jpeg, _, err = in.embedder.BoxThumbnail(ctx, file, s.Box, thumbnailSide)
		} else {
			jpeg, _, err = in.embedder.Thumbnail(ctx, file, thumbnailSide)
		}
		return jpeg, err
	}
}

// events finds the events of the photos and what each shows, and adds them to the job
// and the page.
func (l *labelling) events(ctx context.Context, places export.Deployments, job *label.Job,
	page *report.Page) ([]*events.Event, error) {
	c := l.Settings
	groups, err := events.Group(ctx, l.in.root, l.in.photos(ctx), events.Options{
		Gap: gap(c), FileTimes: c.FileTimes,
	})
	if err != nil {
		return nil, err
	}
	t := groups.Times
	if t.Unread.N > 0 {
		l.log.Warn("times in the list that could be several, or are none, are not used: write 2024-05-31 17:05:09",
			"times", t.Unread.N, "the_first", t.Unread.First)
	}
	if t.Unknown > 0 {
		l.log.Warn("photos whose time is neither in EXIF, nor in a list or their name, are events of their own; "+
			"label.file_times=true takes the time of the file, which copying may have changed",
			"photos", t.Unknown)
	}
	if t.Files > 0 {
		l.log.Warn("the time of photos is that of the last change of their files", "photos", t.Files)
	}
	scorer := c.Scorer(job.Head, job.Threshold, job.Held)
	scorer.Decided = job.Decided
	fitted, err := groups.Fit(ctx, scorer, job.Images, job.Held.Added)
	if err != nil {
		return nil, err
	}
	l.say("%s of %s", plural(len(groups.Events), "event", "events"),
		plural(t.EXIF+t.Table+t.Names+t.Files+t.Unknown, "photo", "photos"))
	job.Events = fitted.Of
	counts := survey.New(groups.Events, places)
	job.Sinks = append(job.Sinks, events.Table{Dir: job.Out, Events: groups.Events},
		survey.Sink{Survey: counts, Dir: job.Out})
	svg, err := counts.SVG()
	if err != nil {
		return nil, err
	}
	if svg != nil {
		page.Activity = &report.Figure{SVG: svg, Alt: counts.Told()}
	}
	return groups.Events, nil
}

// gap returns the longest time between two photos of an event that follow each other.
func gap(c label.Config) time.Duration { return time.Duration(c.Events * float64(time.Second)) }

// photos yields the photos of the input, each with the number of its rows.
func (in input) photos(ctx context.Context) iter.Seq[events.Photo] {
	return func(yield func(events.Photo) bool) {
		if in.boxed != nil {
			for _, p := range in.boxed.Photos {
				if !yield(events.Photo{Path: p.Path, Rows: p.Boxes, Taken: p.Taken}) {
					return
				}
			}
			return
		}
		for s := range in.images.Samples(ctx) {
			if !yield(events.Photo{Path: s.Path, Rows: 1, Taken: s.Taken}) {
				return
			}
		}
	}
}

// decidedOnly are the rows that people gave a class, or that could not be read.
type decidedOnly struct {
	embedding.Rows
	decided label.Decisions
}

// Each implements embedding.Rows.
func (o decidedOnly) Each(ctx context.Context, emit func(embedding.Item) error) (embedding.Outcome, error) {
	return o.Rows.Each(ctx, func(item embedding.Item) error {
		if d, _ := o.decided.Of(item); !d.Given() && item.Err == nil {
			return nil
		}
		return emit(item)
	})
}
