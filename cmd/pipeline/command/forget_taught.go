package command

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/serve"
	"github.com/seed-90d10d51/pipeline/teach"
)

// forgetTaught forgets photos, or all photos of classes, of a model that follows from a journal.
func (a *app) forgetTaught(ctx context.Context, file string, f forgetting) error {
	if err := reachable(file); err != nil {
		return err
	}
	if a.config.Out != "" || f.approximate || f.keepPrevious || len(f.stats) > 0 {
		return usagef("%s was taught with serve, and its journal forgets without a trace: give only --class, or "+
			"--samples, the list of the photos, with --images or --features", file)
	}
	m, err := model.Load(teach.StartFile(file))
	if err != nil {
		return err
	}
	what, err := a.toForget(ctx, m, f)
	if err != nil {
		return err
	}
	cache, err := a.options().CacheDir()
	if err != nil {
		return err
	}
	work := serve.Work{Classes: what.classes}
	for _, h := range what.samples.Content {
		work.Forget = append(work.Forget, teach.ID(h))
	}
	done, err := a.do(ctx, file, max(what.samples.X.Cols, m.Dim(), m.Provenance.Dim), work)
	err = errors.Join(err, serve.RemoveThumbnails(filepath.Join(cache, "thumbnails"), done.Forgot))
	if err != nil {
		return err
	}
	a.say("forgot %d of %s, in the journal and the model", done.Removed, plural(len(done.Forgot), "photo", "photos"))
	for _, trace := range done.Left {
		a.say("not reached: %s", trace)
	}
	return nil
}
