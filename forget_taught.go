package pipeline

import (
	"context"
	"errors"

	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/teach"
)

// forgetTaught forgets photos, or all photos of classes, of a model that follows from a journal.
func (r *run) forgetTaught(ctx context.Context, q ForgetRequest) (*Forgotten, error) {
	if err := reachable(q.Model); err != nil {
		return nil, err
	}
	if q.Out != "" || q.Approximate || q.KeepPrevious || len(q.Stats) > 0 {
		return nil, misuse("%s was taught with serve, and its journal forgets without a trace: give only {class}, or "+
			"{samples}, the list of the photos, with {images} or {features}", q.Model)
	}
	m, err := model.Load(teach.StartFile(q.Model))
	if err != nil {
		return nil, err
	}
	what, err := r.toForget(ctx, m, q)
	if err != nil {
		return nil, err
	}
	pictures, err := r.folder(thumbnails)
	if err != nil {
		return nil, err
	}
	work := teach.Work{Classes: what.classes}
	for _, h := range what.samples.Content {
		work.Forget = append(work.Forget, teach.ID(h))
	}
	done, err := r.do(ctx, q.Model, m, max(what.samples.X.Cols, m.Dim(), m.Provenance.Dim), work)
	if err := errors.Join(err, RemoveThumbnails(pictures, done.Forgot)); err != nil {
		return nil, err
	}
	f := &Forgotten{}
	f.lines.add("forgot %d of %s, in the journal and the model", done.Removed,
		plural(len(done.Forgot), "photo", "photos"))
	for _, trace := range done.Left {
		f.lines.add("not reached: %s", trace)
	}
	return f, nil
}
