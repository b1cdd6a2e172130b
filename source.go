package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/embedding/featdir"
	"github.com/seed-90d10d51/pipeline/internal/phrase"
	"github.com/seed-90d10d51/pipeline/label/events"
	"github.com/seed-90d10d51/pipeline/model"
)

// streamed is the name of a file that means standard input or output.
const streamed = "-"

// A Source names the photos, or the embeddings, of a request, and says how to read them.
type Source struct {
	// Images is a folder of photos, List a file that lists some, with paths relative to Images or
	// else to its own folder, and Features a folder of embeddings.
	Images, List, Features string
	Scan                   Scan
	Boxes                  Boxes
	// Stdin is the list that is called "-".
	Stdin io.Reader
}

// Folder is the source of the photos of a folder. To learn, each folder inside it is a class.
func Folder(dir string) Source { return Source{Images: dir} }

// List is the source of the photos that a file lists: paths, or a table in CSV, JSON lines or
// Parquet.
func List(file string) Source { return Source{List: file} }

// Features is the source of the embeddings of a folder, as pipeline embed writes it.
func Features(dir string) Source { return Source{Features: dir} }

// empty reports whether the source names nothing.
func (s Source) empty() bool { return s.Images == "" && s.List == "" && s.Features == "" }

// inputs read a Source in a run.
type inputs struct {
	*run
	Source
	// newModel are the options of the network of a new model.
	newModel embedding.Options
	// detected keeps boxes of what is not to be classified, such as persons.
	detected bool
	// own are the folders that the run itself writes, which a scan skips.
	own []string
}

// inputs returns what reads a source, where the results of the run go to out.
func (r *run) inputs(from Source, out string) inputs {
	cache, _ := r.embed.CacheDir() // without one there is nothing to skip
	own := []string{from.Scan.ShardFolder(out), out, cache}
	return inputs{
		run: r, Source: from, newModel: r.embed,
		own: slices.DeleteFunc(own, func(dir string) bool { return dir == "" }),
	}
}

// shardFolder creates the folder of the results and returns that of the shard: a sub-folder, so
// that all shards can be started with the same.
func (s Source) shardFolder(out string) (string, error) {
	if s.Scan.Shard != "" {
		if err := os.MkdirAll(out, 0o755); err != nil {
			return "", fmt.Errorf("output folder: %w", err)
		}
	}
	return s.Scan.ShardFolder(out), nil
}

func (in inputs) scanOptions() (dataset.ScanOptions, error) {
	o, err := in.ScanOptions("")
	o.Avoid = in.own
	return o, err
}

// readList reads the list. Its paths are relative to the folder of images, by default
// that of the list.
func (in inputs) readList(need need) (*dataset.Source, error) {
	opts := in.Scan.List()
	opts.LabelsOptional, opts.Boxes = need == anyImages, in.Boxes.File != ""
	opts.Decided = need != anyImages && !in.Scan.Predictions
	images, err := in.listing(cmp.Or(in.Images, filepath.Dir(in.List)), opts)
	if column := (*dataset.ColumnError)(nil); errors.As(err, &column) {
		return nil, &UsageError{err}
	}
	if err != nil && !errors.Is(err, dataset.ErrNoImages) {
		return nil, err
	}
	filter, filterErr := in.Scan.Filter()
	err = errors.Join(err, filterErr, images.Keep(filter))
	in.part(&images, need)
	if errors.Is(err, dataset.ErrNoImages) && len(images.Problems) > 0 {
		err = nil
	}
	return images.Source(), err
}

func (in inputs) listing(root string, opts dataset.ListOptions) (dataset.Listing, error) {
	if in.List == streamed {
		return dataset.ReadListFrom(in.Stdin, "standard input", root, opts)
	}
	return dataset.ReadList(in.List, root, opts)
}

// source returns the images. It walks a folder instead of listing it, so folders can
// be of any size. A folder without any image is an error; one whose images cannot be
// read is not.
func (in inputs) source(ctx context.Context, need need) (*dataset.Source, error) {
	switch {
	case in.List != "":
		return in.readList(need)
	case in.Images == "":
		return nil, misuse("{images} is missing: give the folder to read")
	case in.Scan.Predictions || in.Scan.PathColumn != "" || in.Scan.LabelColumn != "" || in.Scan.PathSuffix != "":
		return nil, misuse("{path-column}, {label-from}, {path-suffix} and {predictions} say how to read a list: " +
			"give it with {list}")
	}
	opts, err := in.scanOptions()
	if err != nil {
		return nil, err
	}
	images, err := dataset.Walk(ctx, in.Images, opts)
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
	embedding.Rows
	io.Closer
	embedder *embedding.Embedder
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
		in.log.Info("guessed how to read the list; path_column, label_column and path_suffix say it",
			"list", in.List, "guessed", found.Guessed)
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
		e, err := embedding.Open(in.newModel)
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
func (r *run) openFor(m *model.Model) (*embedding.Embedder, []string, error) {
	e, err := embedding.OpenFor(m.Provenance, r.embed)
	if err != nil {
		return nil, nil, err
	}
	return e, r.differ(e.Provenance(), m.Provenance, "in the model"), nil
}

// first reports whether something is to be said for the first time.
func (r *run) first(what string) bool {
	said := r.said[what]
	r.said[what] = true
	return !said
}

// differ prints, once, and returns how embeddings differ from others that they may be
// mixed with.
func (r *run) differ(here, other embedding.Provenance, where string) []string {
	note := here.Note(other, where)
	if note == "" {
		return nil
	}
	if r.first(note) {
		r.log.Warn(note)
	}
	return []string{note}
}

// noteMerged says which classes are merged from several folders, and how to keep
// them apart. A user who asks for the first-level folders knows.
func (in inputs) noteMerged(merged []dataset.Merged) {
	switch rule := dataset.ClassFrom(in.Scan.ClassFrom); {
	case len(merged) == 0, rule == dataset.ClassFromTop, rule == dataset.ClassFromRoot:
		return
	}
	advice := "each first-level folder is one class, with the folders inside it; " +
		"class_from=leaf or path makes these the classes, class_from=top confirms"
	if in.Scan.ClassFrom == string(dataset.ClassFromLeaf) {
		advice = "folders of the same name are one class; class_from=path keeps them apart"
	}
	first := merged[0]
	in.log.Info(advice, "merged_classes", len(merged),
		"first", fmt.Sprintf("%q from %s and %s", first.Class, first.Folders[0], first.Folders[1]))
}

// noteFiles says what in the folder is not read.
func (in inputs) noteFiles(left dataset.LeftOut) {
	log := in.log
	if n := left.Files(); n > 0 {
		log.Info("files in other formats are skipped", "files", n, "suffixes", left.BySuffix())
	}
	if left.Raw > 0 {
		log.Info("raw photos with a JPEG or HEIC of the same name are skipped", "files", left.Raw)
	}
	if n := left.System.N; n > 0 {
		log.Info("folders that systems and tools leave are skipped", "folders", n, "such_as", left.System.Names())
	}
	if n := left.Results.N; n > 0 {
		log.Info("results of label are not photos", "folders", n, "such_as", left.Results.Names())
	}
}

// noteEmpty says which folders could have been classes.
func (in inputs) noteEmpty(empty dataset.Folders) {
	if empty.N > 0 {
		in.log.Info("folders without photos are no classes", "folders", empty.N, "such_as", empty.Names())
	}
}

// open opens the embeddings. If there is a model, they must be of its backbone.
func (in inputs) open(ctx context.Context, m *model.Model, need need) (input, error) {
	if in.Features == "" {
		if m != nil && in.List == "" {
			in.Scan.ClassFrom = cmp.Or(in.Scan.ClassFrom, m.ClassFrom)
		}
		return in.openImages(ctx, m, need)
	}
	return in.openFeatures(m)
}

// openFeatures opens the embeddings of a folder, which must be of the backbone of the model, if there
// is one.
func (in inputs) openFeatures(m *model.Model) (input, error) {
	if in.Images != "" || in.List != "" {
		return input{}, misuse("{features} and {images} are two different inputs: give only one")
	}
	if in.Boxes.File != "" {
		return input{}, misuse("{boxes} are parts of photos, and features have none: give {images}")
	}
	if s := in.Scan; s.List() != (dataset.ListOptions{}) || s.Predictions || !s.followsLinks() {
		return input{}, misuse("{class-from}, {path-column}, {label-from}, {path-suffix}, {predictions} and " +
			"{symlinks} say how to read images; features have paths and labels of their own")
	}
	filter, err := in.Scan.Filter()
	if err != nil {
		return input{}, err
	}
	r, err := featdir.Open(in.Features)
	if err != nil {
		return input{}, err
	}
	opened := input{Rows: filtered{r, filter}, Closer: r}
	if m == nil {
		return opened, nil
	}
	if err := m.Accepts(r.Provenance()); err != nil {
		return input{}, errors.Join(err, r.Close())
	}
	opened.notes = in.differ(r.Provenance(), m.Provenance, "in the model")
	if own := m.Provenance.Backbone; own.SHA256 != "" && r.Provenance().Backbone.SHA256 == "" {
		in.log.Warn("these features do not say which backbone computed them; "+
			"results are right only if it is the model's", "features", in.Features, "backbone", own.Name)
	}
	return opened, nil
}

// filtered are the rows that a filter takes.
type filtered struct {
	embedding.Rows
	filter dataset.Filter
}

// Each implements embedding.Rows.
func (f filtered) Each(ctx context.Context, emit func(embedding.Item) error) (embedding.Outcome, error) {
	skipped := map[string]int{}
	outcome, err := f.Rows.Each(ctx, func(item embedding.Item) error {
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
func (in inputs) labelled(ctx context.Context, m *model.Model) (e embedding.Embeddings, b model.Batch, err error) {
	return in.labelledOr(ctx, m, nil)
}

// labelledOr is labelled, and calls aside with what was set aside, unless it is nil.
func (in inputs) labelledOr(ctx context.Context, m *model.Model, aside func(embedding.Item)) (e embedding.Embeddings,
	b model.Batch, err error) {
	from, err := in.open(ctx, m, toLearn)
	if err != nil {
		return e, b, err
	}
	defer closeInto(from, &err)
	rows := &embedding.Labelled{Rows: from, Aside: aside}
	e, err = embedding.Collect(ctx, rows)
	predicted := in.noteUnlabelled(from, rows, e.Outcome.Skipped)
	switch none := errors.Is(err, embedding.ErrNoLabels); {
	case none && predicted > 0:
		err = phrase.New("%w; or, if those of the model are right, take them with {predictions}", err)
	case none && m != nil && from.root != "":
		err = phrase.New("%w; or, if all of these are of one class, name it after their folder with {class-from} root",
			err)
	}
	b = model.NewBatch(e)
	if from.root != "" {
		b.Taken = events.TakenOf(from.root, e.Samples)
	}
	return e, b, err
}

// folder returns the photos of the folder.
func (in inputs) folder(ctx context.Context) ([]dataset.Sample, error) {
	listing, err := in.found(ctx)
	return listing.Samples, err
}

// found returns what is in the folder, which may have no photos yet.
func (in inputs) found(ctx context.Context) (dataset.Listing, error) {
	opts, err := in.scanOptions()
	if err != nil {
		return dataset.Listing{}, err
	}
	listing, err := dataset.Scan(ctx, in.Images, opts)
	if errors.Is(err, dataset.ErrNoImages) {
		err = nil
	}
	return listing, err
}

// ScanOptions say how to read a folder, where the results of the run go to out.
func (s Source) ScanOptions(out string) (dataset.ScanOptions, error) {
	filter, err := s.Scan.Filter()
	avoid := slices.DeleteFunc([]string{s.Scan.ShardFolder(out), out}, func(dir string) bool { return dir == "" })
	return dataset.ScanOptions{
		Avoid: avoid, Filter: filter, Symlinks: dataset.Symlinks(s.Scan.Symlinks),
		ClassFrom: dataset.ClassFrom(s.Scan.ClassFrom),
	}, err
}
