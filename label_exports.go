package pipeline

import (
	"context"
	"slices"
	"time"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/events"
	"github.com/seed-90d10d51/pipeline/label/export"
	"github.com/seed-90d10d51/pipeline/label/split"
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
