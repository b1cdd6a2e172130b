package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/config"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/embed/featdir"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/events"
	"github.com/seed-90d10d51/pipeline/model"
)

// inputs name the images, or the embeddings, that a command reads, and say how.
type inputs struct {
	images, list, features string
	scan                   config.Scan
	boxes                  config.Boxes
	// detected keeps boxes of what is not to be classified, such as persons.
	detected bool
	// own are the folders that the run itself writes, which a scan skips.
	own []string
	// stdin is the list that is called "-".
	stdin io.Reader
	// embed says how images become embeddings, embedNew how those of a new model do.
	embed, embedNew embed.Options
	notes           *notes
}

// inputs returns what the settings name.
func (a *app) inputs() inputs {
	c, options := a.config, a.options()
	cache, _ := options.CacheDir() // without one there is nothing to skip
	own := []string{c.Scan.ShardFolder(c.Out), c.Out, cache}
	return inputs{
		images: c.Images, list: c.List, features: c.Features, scan: c.Scan, boxes: c.Boxes,
		embed: options, embedNew: a.newOptions(),
		own:   slices.DeleteFunc(own, func(dir string) bool { return dir == "" }),
		stdin: a.stdin, notes: a.notes,
	}
}

// shardFolder creates --out and returns the folder of the results: for a shard it is a
// sub-folder of --out, so that all shards can be started with the same.
func (a *app) shardFolder() (string, error) {
	if a.config.Scan.Shard != "" {
		if err := os.MkdirAll(a.config.Out, 0o755); err != nil {
			return "", fmt.Errorf("output folder: %w", err)
		}
	}
	return a.config.Scan.ShardFolder(a.config.Out), nil
}

func (in inputs) scanOptions() (dataset.ScanOptions, error) {
	filter, err := in.scan.Filter()
	return dataset.ScanOptions{
		Avoid: in.own, Filter: filter, Symlinks: dataset.Symlinks(in.scan.Symlinks),
		ClassFrom: dataset.ClassFrom(in.scan.ClassFrom),
	}, err
}

// readList reads the list. Its paths are relative to the folder of images, by default
// that of the list.
func (in inputs) readList(need need) (*dataset.Source, error) {
	opts := in.scan.List()
	opts.LabelsOptional, opts.Boxes = need == anyImages, in.boxes.File != ""
	opts.Decided = need != anyImages && !in.scan.Predictions
	images, err := in.listing(cmp.Or(in.images, filepath.Dir(in.list)), opts)
	if column := (*dataset.ColumnError)(nil); errors.As(err, &column) {
		return nil, usageError{err}
	}
	if err != nil && !errors.Is(err, dataset.ErrNoImages) {
		return nil, err
	}
	filter, filterErr := in.scan.Filter()
	err = errors.Join(err, filterErr, images.Keep(filter))
	in.part(&images, need)
	if errors.Is(err, dataset.ErrNoImages) && len(images.Problems) > 0 {
		err = nil
	}
	return images.Source(), err
}

func (in inputs) listing(root string, opts dataset.ListOptions) (dataset.Listing, error) {
	if in.list == streamed {
		return dataset.ReadListFrom(in.stdin, "standard input", root, opts)
	}
	return dataset.ReadList(in.list, root, opts)
}

// source returns the images. It walks a folder instead of listing it, so folders can
// be of any size. A folder without any image is an error; one whose images cannot be
// read is not.
func (in inputs) source(ctx context.Context, need need) (*dataset.Source, error) {
	switch {
	case in.list != "":
		return in.readList(need)
	case in.images == "":
		return nil, usagef("--images is missing: give the folder to read")
	case in.scan.Predictions || in.scan.PathColumn != "" || in.scan.LabelColumn != "" || in.scan.PathSuffix != "":
		return nil, usagef("--path-column, --label-column, --path-suffix and --predictions say how to read a list: " +
			"give it with --list")
	}
	opts, err := in.scanOptions()
	if err != nil {
		return nil, err
	}
	images, err := dataset.Walk(ctx, in.images, opts)
	if errors.Is(err, dataset.ErrNoImages) {
		found, _ := images.Outcome()
		if len(found.Problems) > 0 || opts.Filter.Shard.N > 1 {
			err = nil // a shard may be empty
		}
	}
	return images, err
}

// An input is a source of embeddings that must be closed. If they are computed from
// images, embedder computes them and root is the folder that paths are relative to.
// Notes say how they differ from the model's. boxed describes the boxes that they are of,
// if they are.
type input struct {
	embed.Rows
	io.Closer
	embedder *embed.Embedder
	root     string
	notes    []string
	boxed    *dataset.BoxesFound
	images   *dataset.Source
}

// openImages opens the images, with the backbone of the model if there is one.
func (in inputs) openImages(ctx context.Context, m *model.Model, need need) (input, error) {
	images, err := in.source(ctx, need)
	if err != nil {
		return input{}, err
	}
	found, _ := images.Outcome()
	if found.Guessed != "" {
		in.notes.log.Info("guessed how to read the list; --path-column, --label-column and --path-suffix say it",
			"list", in.list, "guessed", found.Guessed)
	}
	in.noteFiles(found.LeftOut)
	if need != anyImages {
		in.notePredicted(found.Predicted)
		in.noteMerged(found.Merged)
		in.noteEmpty(found.LeftOut.Empty)
	}
	images, boxed, err := in.boxesOf(ctx, images)
	if err != nil {
		return input{}, err
	}
	if m == nil {
		e, err := embed.Open(in.embedNew)
		if err != nil {
			return input{}, err
		}
		return input{e.Embed(images), e, e, images.Root(), nil, boxed, images}, nil
	}
	e, notes, err := in.openFor(m)
	if err != nil {
		return input{}, err
	}
	return input{e.Embed(images), e, e, images.Root(), notes, boxed, images}, nil
}

// openFor opens the backbone of a model.
func (in inputs) openFor(m *model.Model) (*embed.Embedder, []string, error) {
	e, err := embed.OpenFor(m.Provenance, in.embed)
	if err != nil {
		return nil, nil, err
	}
	return e, in.notes.differ(e.Provenance(), m.Provenance, "in the model"), nil
}

// notes say how embeddings differ from others, once each.
type notes struct {
	log  *slog.Logger
	said map[string]bool
}

// first reports whether something is to be said for the first time.
func (n *notes) first(what string) bool {
	said := n.said[what]
	n.said[what] = true
	return !said
}

// differ prints, once, and returns how embeddings differ from others that they may be
// mixed with.
func (n *notes) differ(here, other embed.Provenance, where string) []string {
	note := here.Note(other, where)
	if note == "" {
		return nil
	}
	if n.first(note) {
		n.log.Warn(note)
	}
	return []string{note}
}

// noteMerged says which classes are merged from several folders, and how to keep
// them apart. A user who asks for the first-level folders knows.
func (in inputs) noteMerged(merged []dataset.Merged) {
	switch rule := dataset.ClassFrom(in.scan.ClassFrom); {
	case len(merged) == 0, rule == dataset.ClassFromTop, rule == dataset.ClassFromRoot:
		return
	}
	advice := "each first-level folder is one class, with the folders inside it; " +
		"--class-from leaf or path makes these the classes, --class-from top confirms"
	if in.scan.ClassFrom == string(dataset.ClassFromLeaf) {
		advice = "folders of the same name are one class; --class-from path keeps them apart"
	}
	first := merged[0]
	in.notes.log.Info(advice, "merged_classes", len(merged),
		"first", fmt.Sprintf("%q from %s and %s", first.Class, first.Folders[0], first.Folders[1]))
}

// noteFiles says what in the folder is not read.
func (in inputs) noteFiles(left dataset.LeftOut) {
	log := in.notes.log
	if n := left.Files(); n > 0 {
		log.Info("files in other formats are skipped", "files", n, "suffixes", left.BySuffix())
	}
	if left.Raw > 0 {
		log.Info("raw photos are not read; export them as JPEG", "files", left.Raw)
	}
	if n := left.System.N; n > 0 {
		log.Info("folders that systems and tools leave are skipped", "folders", n, "such_as", left.System.Names())
	}
}

// noteEmpty says which folders could have been classes.
func (in inputs) noteEmpty(empty dataset.Folders) {
	if empty.N > 0 {
		in.notes.log.Info("folders without photos are no classes", "folders", empty.N, "such_as", empty.Names())
	}
}

// open opens the embeddings. If there is a model, they must be of its backbone.
func (in inputs) open(ctx context.Context, m *model.Model, need need) (input, error) {
	if in.features == "" {
		if m != nil && in.list == "" {
			in.scan.ClassFrom = cmp.Or(in.scan.ClassFrom, m.ClassFrom)
		}
		return in.openImages(ctx, m, need)
	}
	if in.images != "" || in.list != "" {
		return input{}, usagef("--features and --images are two different inputs: give only one")
	}
	if in.boxes.File != "" {
		return input{}, usagef("--boxes are parts of photos, and features have none: give --images")
	}
	if s := in.scan; s.List() != (dataset.ListOptions{}) || s.Predictions || s.Symlinks != string(dataset.FollowLinks) {
		return input{}, usagef("--class-from, --path-column, --label-column, --path-suffix, --predictions and " +
			"--symlinks say how to read images; features have paths and labels of their own")
	}
	filter, err := in.scan.Filter()
	if err != nil {
		return input{}, err
	}
	r, err := featdir.Open(in.features)
	var notes []string
	if err == nil && m != nil {
		if err = m.Accepts(r.Provenance()); err != nil {
			err = errors.Join(err, r.Close())
		} else {
			notes = in.notes.differ(r.Provenance(), m.Provenance, "in the model")
		}
		if own := m.Provenance.Backbone; own.SHA256 != "" && r.Provenance().Backbone.SHA256 == "" {
			in.notes.log.Warn("these features do not say which backbone computed them; "+
				"results are right only if it is the model's", "features", in.features, "backbone", own.Name)
		}
	}
	return input{Rows: filtered{r, filter}, Closer: r, notes: notes}, err
}

// filtered are the rows that a filter takes.
type filtered struct {
	embed.Rows
	filter dataset.Filter
}

// Each implements embed.Rows.
func (f filtered) Each(ctx context.Context, emit func(embed.Item) error) (embed.Outcome, error) {
	skipped := map[string]int{}
	outcome, err := f.Rows.Each(ctx, func(item embed.Item) error {
		if !f.filter.Takes(item.Sample, skipped) {
			return nil
		}
		return emit(item)
	})
	outcome.Skipped = skipped // features have no files to skip
	return outcome, err
}

// labelled reads the rows that have a class. What a model is to learn is often one
// folder of photos of a new class; a first model needs several.
func (in inputs) labelled(ctx context.Context, m *model.Model) (e embed.Embeddings, b model.Batch, err error) {
	return in.labelledOr(ctx, m, nil)
}

// labelledOr is labelled, and calls aside with what was set aside, unless it is nil.
func (in inputs) labelledOr(ctx context.Context, m *model.Model, aside func(embed.Item)) (e embed.Embeddings,
	b model.Batch, err error) {
	from, err := in.open(ctx, m, toLearn)
	if err != nil {
		return e, b, err
	}
	defer closeInto(from, &err)
	rows := &embed.Labelled{Rows: from, Aside: aside}
	e, err = embed.Collect(ctx, rows)
	in.noteUnlabelled(from, rows, e.Outcome.Skipped)
	if errors.Is(err, embed.ErrNoLabels) && m != nil && from.root != "" {
		err = fmt.Errorf("%w; or, if all of these are of one class, name it after their folder with --class-from root",
			err)
	}
	b = model.NewBatch(e)
	if from.root != "" {
		b.Taken = events.TakenOf(from.root, e.Samples)
	}
	return e, b, err
}

// writeProblems writes the inputs that failed to a file and returns a
// partialError. If none failed, it removes the file of an earlier run.
func writeProblems(problems []dataset.Problem, file string) error {
	if len(problems) == 0 {
		if err := atomicfile.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if err := label.WriteProblems(file, problems); err != nil {
		return err
	}
	return partial(len(problems), file)
}
