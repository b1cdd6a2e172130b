package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/embed/featdir"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/model"
)

// ownDirs returns the folders that the run itself writes, which a scan skips.
func (a *app) ownDirs() []string {
	cache, _ := a.options().CacheDir() // without one there is nothing to skip
	return slices.DeleteFunc([]string{a.config.Out, a.output, cache}, func(dir string) bool { return dir == "" })
}

func (a *app) scanOptions() (dataset.ScanOptions, error) {
	filter, err := a.config.Scan.Filter()
	return dataset.ScanOptions{Avoid: a.ownDirs(), Filter: filter, Symlinks: dataset.Symlinks(a.config.Scan.Symlinks),
		ClassFrom: dataset.ClassFrom(a.config.Scan.ClassFrom)}, err
}

func (a *app) scan(ctx context.Context) (dataset.Listing, error) {
	opts, err := a.scanOptions()
	if err != nil {
		return dataset.Listing{}, err
	}
	return dataset.Scan(ctx, a.config.Images, opts)
}

// readList reads --list. Its paths are relative to --images, by default its own
// folder.
func (a *app) readList(need need) (*dataset.Source, error) {
	if a.config.Images == "" {
		a.config.Images = filepath.Dir(a.config.List)
	}
	opts := a.config.Scan.List()
	opts.LabelsOptional = need != classes
	images, err := a.listing(opts)
	if column := (*dataset.ColumnError)(nil); errors.As(err, &column) {
		return nil, usageError{err}
	}
	if err != nil && !errors.Is(err, dataset.ErrNoImages) {
		return nil, err
	}
	filter, filterErr := a.config.Scan.Filter()
	err = errors.Join(err, filterErr, images.Keep(filter))
	if errors.Is(err, dataset.ErrNoImages) && len(images.Problems) > 0 {
		err = nil
	}
	return images.Source(), err
}

func (a *app) listing(opts dataset.ListOptions) (dataset.Listing, error) {
	if a.config.List == streamed {
		return dataset.ReadListFrom(a.stdin, "standard input", a.config.Images, opts)
	}
	return dataset.ReadList(a.config.List, a.config.Images, opts)
}

// shardOut moves the output of a shard to its own sub-folder, so that all shards
// can be started with the same --out.
func (a *app) shardOut() error {
	shard, err := dataset.ParseShard(a.config.Scan.Shard)
	if err != nil || shard.N == 0 {
		return err
	}
	if err := os.MkdirAll(a.config.Out, 0o755); err != nil {
		return fmt.Errorf("output folder: %w", err)
	}
	a.output, a.config.Out = a.config.Out, filepath.Join(a.config.Out, shard.Name())
	return nil
}

// need is what a command needs of its input.
type need int

const (
	anyImages need = iota
	classes        // of the images, too
)

// source returns the images that the settings name. It walks a folder instead of
// listing it, so folders can be of any size. A folder without any image is an
// error; one whose images cannot be read is not.
func (a *app) source(ctx context.Context, need need) (*dataset.Source, error) {
	switch {
	case a.config.List != "":
		return a.readList(need)
	case a.config.Images == "":
		return nil, usagef("--images is missing: give the folder to read")
	case a.config.Scan.PathColumn != "" || a.config.Scan.LabelColumn != "" || a.config.Scan.PathSuffix != "":
		return nil, usagef("--path-column, --label-column and --path-suffix say how to read a list: give it with --list")
	}
	opts, err := a.scanOptions()
	if err != nil {
		return nil, err
	}
	images, err := dataset.Walk(ctx, a.config.Images, opts)
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
// Notes say how they differ from the model's.
type input struct {
	embed.Rows
	io.Closer
	embedder *embed.Embedder
	root     string
	notes    []string
}

// images opens the images that --images or --list name, with the backbone of the
// model if there is one.
func (a *app) images(ctx context.Context, m *model.Model, need need) (input, error) {
	images, err := a.source(ctx, need)
	if err != nil {
		return input{}, err
	}
	found, _ := images.Outcome()
	if found.Guessed != "" {
		a.log.Info("guessed how to read the list; --path-column, --label-column and --path-suffix say it", "list", a.config.List, "guessed", found.Guessed)
	}
	if need == classes {
		a.noteMerged(found.Merged)
	}
	if m == nil {
		e, err := embed.Open(a.options())
		if err != nil {
			return input{}, err
		}
		return input{Rows: e.Embed(images), Closer: e, embedder: e, root: images.Root()}, nil
	}
	e, notes, err := a.openFor(m)
	if err != nil {
		return input{}, err
	}
	return input{e.Embed(images), e, e, images.Root(), notes}, nil
}

// openFor opens the backbone of a model.
func (a *app) openFor(m *model.Model) (*embed.Embedder, []string, error) {
	e, err := embed.OpenFor(m.Provenance, a.options())
	if err != nil {
		return nil, nil, err
	}
	return e, a.sayNote(e.Provenance(), m.Provenance, "in the model"), nil
}

// sayNote prints, once, and returns how embeddings differ from others that they
// may be mixed with.
func (a *app) sayNote(here, other embed.Provenance, where string) []string {
	note := here.Note(other, where)
	if note == "" {
		return nil
	}
	if !a.noted[note] {
		a.noted[note] = true
		a.log.Warn(note)
	}
	return []string{note}
}

// noteMerged says which classes are merged from several folders, and how to keep
// them apart. A user who asks for the first-level folders knows.
func (a *app) noteMerged(merged []dataset.Merged) {
	switch rule := dataset.ClassFrom(a.config.Scan.ClassFrom); {
	case len(merged) == 0, rule == dataset.ClassFromTop, rule == dataset.ClassFromRoot:
		return
	}
	advice := "each first-level folder is one class, with the folders inside it; --class-from leaf or path makes these the classes, --class-from top confirms"
	if a.config.Scan.ClassFrom == string(dataset.ClassFromLeaf) {
		advice = "folders of the same name are one class; --class-from path keeps them apart"
	}
	first := merged[0]
	a.log.Info(advice, "merged_classes", len(merged), "first", fmt.Sprintf("%q from %s and %s", first.Class, first.Folders[0], first.Folders[1]))
}

// input opens the embeddings that --images, --list or --features name. If there is
// a model, they must be of its backbone.
func (a *app) input(ctx context.Context, m *model.Model, need need) (input, error) {
	if a.config.Features == "" {
		return a.images(ctx, m, need)
	}
	if a.config.Images != "" || a.config.List != "" {
		return input{}, usagef("--features and --images are two different inputs: give only one")
	}
	if s := a.config.Scan; s.List() != (dataset.ListOptions{}) || s.Symlinks != string(dataset.FollowLinks) {
		return input{}, usagef("--class-from, --path-column, --label-column, --path-suffix and --symlinks say how to read images; features have paths and labels of their own")
	}
	filter, err := a.config.Scan.Filter()
	if err != nil {
		return input{}, err
	}
	r, err := featdir.Open(a.config.Features)
	var notes []string
	if err == nil && m != nil {
		if err = m.Accepts(r.Provenance()); err != nil {
			err = errors.Join(err, r.Close())
		} else {
			notes = a.sayNote(r.Provenance(), m.Provenance, "in the model")
		}
		if own := m.Provenance.Backbone; own.SHA256 != "" && r.Provenance().Backbone.SHA256 == "" {
			a.log.Warn("these features do not say which backbone computed them; results are right only if it is the model's",
				"features", a.config.Features, "backbone", own.Name)
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

// labelled reads the rows of an input that have a class. What a model is to learn is
// often one folder of photos of a new class; a first model needs several.
func (a *app) labelled(ctx context.Context, m *model.Model) (e embed.Embeddings, err error) {
	in, err := a.input(ctx, m, classes)
	if err != nil {
		return e, err
	}
	defer closeInto(in, &err)
	rows := &embed.Labelled{Rows: in}
	e, err = embed.Collect(ctx, rows)
	a.noteLeftOut(rows.Dropped, e.Outcome.Skipped)
	if errors.Is(err, embed.ErrNoLabels) && m != nil && in.root != "" {
		err = fmt.Errorf("%w; or, if all of these are of one class, name it after their folder with --class-from root", err)
	}
	return e, err
}

// noteLeftOut says how many images have no class, and how many one to drop. That
// may be misspelt.
func (a *app) noteLeftOut(unlabelled int, skipped map[string]int) {
	switch drop := a.config.Scan.DropLabel; {
	case len(drop) == 0:
	case skipped["dropped"] == 0:
		a.log.Warn("no image has a class that --drop-label leaves out", "drop_label", strings.Join(drop, ", "))
	default:
		a.log.Info("images of the classes of --drop-label are left out", "images", skipped["dropped"])
	}
	if unlabelled > 0 {
		a.log.Warn("images without a class are left out; put each into a folder named after its class, or give it a label", "images", unlabelled)
	}
}

// views returns a function that embeds augmented views of images, or nil if no
// views are wanted or there are no images.
func (a *app) views(ctx context.Context, root string, e embed.Embeddings) func(blas32.General) ([]blas32.General, error) {
	count := a.config.Classifier.DKL.Views
	if !a.config.Classifier.DKL.Enabled || count == 0 || a.config.Features != "" {
		return nil
	}
	return e.Views(ctx, a.options(), root, count)
}

// writeProblems writes the inputs that failed to a file and returns a
// partialError. If none failed, it removes the file of an earlier run.
func writeProblems(problems []dataset.Problem, file string) error {
	if len(problems) == 0 {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if err := label.WriteProblems(file, problems); err != nil {
		return err
	}
	return partial(len(problems), file)
}
