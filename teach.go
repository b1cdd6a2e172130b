package pipeline

import (
	"bytes"
	"context"
	"errors"
	"image/jpeg"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/embedding/cache"
	"github.com/seed-90d10d51/pipeline/embedding/wording"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/teach"
)

// A TeachRequest says which model is taught with which photos.
type TeachRequest struct {
	// Model is the file of the model, which need not be there yet.
	Model string
	// From is a folder of photos, and perhaps the boxes in them.
	From Source
	// Events are the most seconds between two photos that are shown as one; 0 shows each alone.
	Events float64
	// Classifier and Seed are those of a model that is not there yet; zero values are defaults.
	Classifier Classifier
	Seed       uint64
}

// A Teaching is a model that is being taught, with its photos. The page of serve shows one.
type Teaching struct {
	Embedder *embedding.Embedder
	// Session is nil before Begin.
	Session *teach.Session
	// Root is the folder of photos. Scan lists what is in it: photos, or the boxes in them; Boxed
	// tells how these fit, nil for whole photos.
	Root  string
	Scan  func(context.Context) ([]dataset.Sample, error)
	Boxed func() dataset.BoxesFound
	// Words opens the text side of the network, nil if there is none.
	Words func() (*wording.Side, error)
	// Thumbnails is the folder for small pictures of the photos.
	Thumbnails string

	studio *Studio
	file   string
	start  *model.Model // that the journal starts from, nil if there is no file yet
	fresh  *model.Model // where there is no file yet
	temp   string
	gap    time.Duration
}

// Teach opens what teaching needs, and writes nothing. Nothing can be decided before Begin.
func (s *Studio) Teach(ctx context.Context, q TeachRequest) (*Teaching, error) {
	r := s.begin(s.until) // its network outlives this call
	r.embed.Watched = true
	in := r.inputs(q.From, "")
	found, err := in.found(ctx)
	if err != nil {
		return nil, err
	}
	in.noteFiles(found.LeftOut)
	t := &Teaching{studio: s, file: q.Model, gap: time.Duration(q.Events * float64(time.Second))}
	if t.Scan, t.Boxed, err = in.shown(ctx); err != nil {
		return nil, err
	}
	if err := Writable(q.Model); err != nil {
		return nil, err
	}
	if t.temp, err = s.folder("teach"); err != nil {
		return nil, err
	}
	t.Thumbnails = filepath.Join(filepath.Dir(t.temp), thumbnails)
	if t.Root, err = filepath.Abs(q.From.Images); err != nil {
		return nil, err
	}
	if err := t.startingPoint(r, q); err != nil {
		return nil, err
	}
	if wording.Has(s.settings.Text, t.Embedder.Backbone(), r.embed) {
		t.Words = func() (*wording.Side, error) {
			return wording.Open(s.settings.Text, t.Embedder.Provenance(), r.embed)
		}
	}
	return t, nil
}

// shown returns what lists the photos to show, or the boxes in them, and what tells how these
// fit, nil for photos.
func (in inputs) shown(ctx context.Context) (scan func(context.Context) ([]dataset.Sample, error),
	fit func() dataset.BoxesFound, err error) {
	switch {
	case in.Boxes.File == "":
		return in.folder, nil, nil
	case !in.settings.Preprocess.Orientation:
		return nil, nil, misuse("serve draws boxes on upright photos: leave out preprocess.orientation=false, or " +
			"{boxes}")
	}
	f, err := in.boxedFolder(ctx)
	if err != nil {
		return nil, nil, err
	}
	return f.scan, f.fit, nil
}

// startingPoint opens the network of the model that the session starts from. Without one, it is a model of the
// settings that has learned nothing.
func (t *Teaching) startingPoint(r *run, q TeachRequest) (err error) {
	t.start, err = model.Load(teach.StartFile(q.Model))
	switch {
	case err == nil:
		t.Embedder, _, err = r.openFor(t.start)
		return err
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	r.log.Info("there is no model to start from: the page begins without classes", "because", err)
	if t.Embedder, err = embedding.Open(r.embed); err != nil {
		return err
	}
	settings := r.modelSettings(TrainRequest{From: q.From, Classifier: q.Classifier.resolved(), Seed: q.Seed})
	settings.Provenance = t.Embedder.Provenance()
	if settings.Prior, err = readPrior(q.Classifier.Prior); err == nil {
		t.fresh, err = model.New(settings)
	}
	if err != nil {
		return errors.Join(err, t.Embedder.Close())
	}
	return nil
}

// Begin opens the session, at a line of its history unless that is 0. changed is called after every
// change.
func (t *Teaching) Begin(at int, changed func(event string)) error {
	// Without an end: the model is written after that of the work.
	products, err := t.studio.products()
	if err != nil {
		return err
	}
	t.Session, err = teach.Open(teach.Options{
		Model: t.file, Fresh: t.fresh, Start: t.start, At: at, Dim: t.Embedder.Dim(), Temp: t.temp,
		Backend: products.Backend, ToolVersion: t.studio.version, Changed: changed, Gap: t.gap,
		Elsewhere: t.studio.cached, Sketch: t.sketch,
	})
	if err != nil {
		return err
	}
	t.studio.warnOpened(t.Session, t.file)
	return nil
}

// sketch draws a photo, by its thumbnail if there is one.
func (t *Teaching) sketch(ctx context.Context, p teach.Photo) (s teach.Sketch, err error) {
	text, err := teach.ReadThumbnail(t.Thumbnails, p.ID)
	if err != nil {
		const side = 128
		file := dataset.FullPath(t.Root, dataset.UnescapePath(p.File()))
		if p.Box != nil {
			text, _, err = t.Embedder.BoxThumbnail(ctx, file, p.Box, side)
		} else {
			text, _, err = t.Embedder.Thumbnail(ctx, file, side)
		}
	}
	if err != nil {
		return s, err
	}
	picture, err := jpeg.Decode(bytes.NewReader(text))
	if err != nil {
		return s, err
	}
	return teach.NewSketch(picture), nil
}

// Save writes the model, unless it is up to date.
func (t *Teaching) Save(ctx context.Context) error {
	if st := t.Session.Status(); st.Unsaved == 0 && st.Lost == nil {
		if _, err := os.Stat(t.file); err == nil {
			return nil
		}
	}
	_, err := t.Session.Save(ctx)
	return err
}

// Merge adds what was decided with the model of another file, and says what that was.
func (t *Teaching) Merge(file string, prefer teach.Preference) (string, error) {
	outcome, err := t.Session.Merge(file, prefer)
	return mergedLine(outcome), err
}

// Close writes what was decided and closes everything.
func (t *Teaching) Close() error {
	var err error
	if t.Session != nil {
		unsaved, leaveErr := t.studio.leave(context.Background(), t.Session, t.file)
		if unsaved != "" {
			t.studio.say("%s was not written: %s", t.file, unsaved)
		}
		err = errors.Join(leaveErr, t.Session.Close())
	}
	return errors.Join(err, t.Embedder.Close())
}

// Decide records that a person said what some photos show, which are files anywhere. It is on disk
// when Decide returns, and what Label says of these photos from then on.
func (t *Teaching) Decide(ctx context.Context, class string, files ...string) error {
	if t.Session == nil {
		if err := t.Begin(0, nil); err != nil {
			return err
		}
	}
	contents := make([][]byte, len(files))
	for i, file := range files {
		var err error
		if contents[i], err = regularfile.Read(file, photoBytes); err != nil {
			return err
		}
	}
	items, err := t.Embedder.EmbedContents(ctx, contents)
	if err != nil {
		return err
	}
	ids, vectors := make([]teach.ID, len(items)), make([][]float32, len(items))
	for i, item := range items {
		if item.Err != nil {
			return &PhotoError{files[i], item.Err}
		}
		ids[i], vectors[i] = teach.ID(item.Hash), item.Vector
	}
	_, err = t.Session.Teach(ids, vectors, class)
	return err
}

// thumbnails is the folder of the cache in which servers keep small pictures of photos.
const thumbnails = "thumbnails"

// openSession opens the session of a MODEL that was taught and starts from a model, for embeddings of d values.
func (r *run) openSession(file string, start *model.Model, d int) (*teach.Session, error) {
	temp, err := r.folder("teach")
	if err != nil {
		return nil, err
	}
	// Without an end: the model is written after that of the request.
	products, err := r.products()
	if err != nil {
		return nil, err
	}
	return teach.Open(teach.Options{
		Model: file, Start: start, Dim: d, Temp: temp, Backend: products.Backend, ToolVersion: r.version,
		Elsewhere: r.cached,
	})
}

// cached returns embeddings of photos that are in the cache.
func (s *Studio) cached(origin embedding.Provenance, ids []teach.ID) map[teach.ID][]float32 {
	found, err := s.cachedRows(origin, ids)
	if err != nil {
		s.log.Warn("the cache could not be asked for photos that are not in the folder", "reason", err)
	}
	return found
}

func (s *Studio) cachedRows(origin embedding.Provenance, ids []teach.ID) (found map[teach.ID][]float32, err error) {
	stored, err := s.Options(s.until).Stored(origin)
	if err != nil {
		return nil, err
	}
	defer closeInto(stored, &err)
	found = map[teach.ID][]float32{}
	for _, id := range ids {
		if x, ok := stored.Get(cache.Hash(id)); ok {
			found[id] = x
		}
	}
	return found, nil
}

// reachable returns an error unless a model that was taught can be changed, by this program or
// by a server that has it open, so that a request fails before its work.
func reachable(file string) error {
	err := Writable(file)
	if !errors.Is(err, teach.ErrInUse) {
		return err
	}
	if control, controlErr := teach.Control(file); controlErr != nil || control == nil {
		return err
	}
	return nil
}

// do does work on a model that was taught and starts from a model, with embeddings of d values, or hands it to the
// server that has the model open.
func (r *run) do(
	ctx context.Context, file string, start *model.Model, d int, work teach.Work,
) (done teach.Done, err error) {
	session, err := r.openSession(file, start, d)
	if errors.Is(err, teach.ErrInUse) {
		if done, err = teach.Hand(ctx, file, work); err == nil {
			r.say("handed to the server that has %s open, which shows it on its page", file)
		}
		return done, err
	}
	if err != nil {
		return done, err
	}
	defer closeInto(session, &err)
	r.warnOpened(session, file)
	if done, err = work.Do(ctx, session); err != nil || !work.Learns() {
		return done, err
	}
	done.Unsaved, err = r.leave(context.WithoutCancel(ctx), session, file)
	return done, err
}

// warnOpened says what a server that was killed, or failed to save, has left.
func (s *Studio) warnOpened(session *teach.Session, file string) {
	if dropped := session.Dropped(); dropped != "" {
		s.log.Warn("the journal ended in the middle of a line, as after a kill; it was not acknowledged and is dropped",
			"dropped", dropped)
	}
	if n := session.Status().Unsaved; n > 0 {
		s.log.Warn("the model lacks decisions that are in its journal: save on the page, or end this server, which "+
			"saves too",
			"file", file, "decisions", n)
	}
}

// leave writes the model if it is behind the journal and there are two classes, and
// waits for a save that is running. unsaved says why there is no model to write.
func (s *Studio) leave(ctx context.Context, session *teach.Session, file string) (unsaved string, err error) {
	if st := session.Status(); st.Unsaved == 0 && st.Lost == nil {
		return "", nil
	}
	s.say("writing %s; every decision is in its journal already", file)
	if unsaved, err = session.SaveIfAble(ctx); err != nil {
		err = &UnsavedError{file, err}
	}
	return unsaved, err
}
