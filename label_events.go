package pipeline

import (
	"context"
	"iter"
	"time"

	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/events"
	"github.com/seed-90d10d51/pipeline/label/export"
	"github.com/seed-90d10d51/pipeline/label/report"
	"github.com/seed-90d10d51/pipeline/label/survey"
)

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
