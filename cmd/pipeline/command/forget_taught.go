package command

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/seed-90d10d51/pipeline/internal/linalg/native"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/serve"
	"github.com/seed-90d10d51/pipeline/teach"
)

// forgetTaught forgets photos of a model that follows from a journal.
func (a *app) forgetTaught(ctx context.Context, file string, f forgetting) (err error) {
	if f.samples == "" || a.config.Out != "" || f.approximate || f.keepPrevious || len(f.stats) > 0 {
		return usagef("%s was taught with serve, and its journal forgets photos, not classes: give only --samples, "+
			"the list of the photos, with --images or --features", file)
	}
	m, err := model.Load(teach.StartFile(file))
	if err != nil {
		return err
	}
	b, err := a.listed(ctx, m, f.samples)
	if err != nil {
		return err
	}
	cache, err := a.options().CacheDir()
	if err != nil {
		return err
	}
	products, err := native.Choose(a.config.Linalg, a.options().Runtime)
	if err != nil {
		return err
	}
	session, err := teach.Open(teach.Options{
		Model: file, Dim: b.X.Cols, Temp: filepath.Join(cache, "teach"), Backend: products, ToolVersion: version,
	})
	if err != nil {
		return err
	}
	defer closeInto(session, &err)
	ids := make([]teach.ID, len(b.Content))
	for i, h := range b.Content {
		ids[i] = teach.ID(h)
	}
	removed, left, err := session.Forget(ctx, ids)
	if err = errors.Join(err, serve.RemoveThumbnails(filepath.Join(cache, "thumbnails"), ids)); err != nil {
		return err
	}
	a.say("forgot %d of %s, in the journal and the model", removed, plural(len(ids), "photo", "photos"))
	for _, trace := range left {
		a.say("not reached: %s", trace)
	}
	return nil
}
