package command

import (
	"context"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/photometa"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/events"
	"github.com/seed-90d10d51/pipeline/label/export"
	"github.com/seed-90d10d51/pipeline/label/split"
	"github.com/seed-90d10d51/pipeline/model"
)

// split divides the images of a job, and says how.
func (a *app) split(ctx context.Context, job label.Job) (*split.Plan, error) {
	shares, err := split.Parse(job.Config.Split)
	if err != nil {
		return nil, err
	}
	plan, err := split.Deal(ctx, job.Pass(), shares, a.config.Seed)
	if err == nil {
		a.say("%s", plan)
	}
	return plan, err
}

// exportOptions say what the formats of other programs need to know.
func exportOptions(ctx context.Context, c label.Config, m *model.Model, in input, dir string) (o export.Options,
	err error) {
	o = export.Options{
		Root: in.root, Dir: dir, Classes: m.Classes(), Model: m.Method + " " + m.SHA256()[:12],
		Shot: func(file string) photometa.Shot { return events.ShotOf(file, c.FileTimes) }, Now: time.Now,
		Size: func(file string) (width, height int, err error) { return in.embedder.Size(ctx, file) },
	}
	if in.boxed != nil {
		for _, p := range in.boxed.Photos {
			if p.Boxes == 0 {
				o.Empty = append(o.Empty, p.Path)
			}
		}
	}
	if c.Deployments != "" {
		o.Deployments, err = export.ReadDeployments(c.Deployments)
	}
	return o, err
}
