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
func (a *app) forgetTaught(ctx context.Context, file string, f forgetting) (err error) {
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
	session, err := a.openSession(file, max(what.samples.X.Cols, m.Dim(), m.Provenance.Dim))
	if err != nil {
		return err
	}
	defer closeInto(session, &err)
	ids, err := what.ids(session)
	if err != nil {
		return err
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

// ids returns the photos to forget.
func (f forgettable) ids(session *teach.Session) ([]teach.ID, error) {
	if len(f.classes) > 0 {
		return session.PhotosOf(f.classes)
	}
	ids := make([]teach.ID, len(f.samples.Content))
	for i, h := range f.samples.Content {
		ids[i] = teach.ID(h)
	}
	return ids, nil
}
