package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/adapt"
	"github.com/seed-90d10d51/pipeline/label/events"
	"github.com/seed-90d10d51/pipeline/label/organise"
	"github.com/seed-90d10d51/pipeline/label/report"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/model/advice"
	"github.com/seed-90d10d51/pipeline/teach"
)

func newLabel() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "label MODEL --images DIR | --features FEATDIR --out OUTDIR | --stdin",
		Short: "Label a folder of images, or embeddings",
		Long: `Writes labels.csv (.jsonl, .parquet), errors.csv and summary.json into OUTDIR. Run
the same command again to resume. Exit code 3: some images could not be read, and
errors.csv says why.

--format also has what other programs load: imagefolder (Hugging Face datasets), coco,
label-studio and camtrap-dp. --split divides the photos to train and test with; photos that are
alike, copies and events stay in one part.

--adapt moves the means of classes learned from four images or fewer towards the
photos of the folder first. It helps most with one image per class.

A photo that was decided, on the page of serve or in a folder or list that was learned,
has that class, wherever it lies; the column by says who decided. Photos that were set
aside have no label.

--boxes labels what a detector found: a row per box, photo.jpg#1, with the column box,
and photos.csv with the labels of each photo. --events labels photos of one camera
together, and writes events.csv, species.csv (by station and week) and activity.csv and
activity.svg (by hour).

With --features, rows have the paths in samples.csv or, without it, their numbers in
embeddings.npy, from 0.`,
		Example: "  pipeline label photos.model --images ~/Pictures --out labels --top-k 3",
		Args:    arguments,
		RunE: either(
			func(ctx context.Context, a *app, args []string) error { return a.label(ctx, args[0]) },
			func(ctx context.Context, a *app, args []string) error { return a.labelStdin(ctx, args) },
		),
	}
	inputFlags(cmd, "images", "list", "features")
	scanFlags(cmd)
	boxFlags(cmd)
	outFlag(cmd, "`folder` for the results")
	backboneFlag(cmd)
	stdinFlag(cmd)
	standard := label.DefaultConfig()
	cmd.Flags().StringSlice("format", standard.Format, "results: "+strings.Join(label.Formats(), ", "))
	cmd.Flags().Int("top-k", standard.TopK, "`number` of ranked classes in the column top_k")
	cmd.Flags().Float64("reject", 0, "`share` of photos like those learned that may be rejected as unknown")
	cmd.Flags().Bool("adapt", false, "adapt classes of few images to the photos first (plda)")
	cmd.Flags().Float64("events", 0, "label photos of one camera together that are at most so many `seconds` apart")
	cmd.Flags().String("organise", "", "make class folders in OUTDIR/by-class: link or copy the photos")
	cmd.Flags().String("only", "", "decided: write only the photos that people decided")
	cmd.Flags().String("split", "", "divide the photos into train, (validation,) test of some `percents`: 80,20")
	cmd.Flags().Bool("xmp", false, "write the class into a sidecar PHOTO.EXT.xmp next to each photo (dc:subject)")
	reportFlag(cmd.Flags(), outDir, "write report.html: pictures by class, uncertain and unknown ones first")
	jsonFlag(cmd.Flags(), "write the content of summary.json")
	bind(cmd.Flags(), "label.", "format", "top-k", "reject", "adapt", "events", "organise", "only", "split", "xmp")
	return cmd
}

func (a *app) label(ctx context.Context, file string) (err error) {
	if err := a.checkLabel(); err != nil {
		return err
	}
	m, err := a.loadModel(file)
	if err != nil {
		return err
	}
	dir, err := a.shardFolder()
	if err != nil {
		return err
	}
	from := a.inputs()
	from.detected = true
	in, err := from.open(ctx, m, anyImages)
	if err != nil {
		return err
	}
	defer closeInto(in, &err)
	job, err := a.labelJob(ctx, file, m, in, dir)
	if err != nil {
		return err
	}
	summary, err := job.Run(ctx)
	if err != nil {
		return err
	}
	a.sayAll(summaryLines(summary, in.boxed, dir))
	if a.json != "" {
		if err := a.writeJSON(summary); err != nil {
			return err
		}
	}
	return partial(summary.Failed, filepath.Join(dir, "errors.csv"))
}

// checkLabel returns a usage error if flags are missing or contradict each other.
func (a *app) checkLabel() error {
	if err := a.requireInput(); err != nil {
		return err
	}
	if err := tableAsFolder(a.config.Out); err != nil {
		return err
	}
	c := a.config.Label
	if a.config.Features != "" && (c.Organise != "" || c.XMP || c.Report) {
		return usagef("--organise, --xmp and --report need the photos, and features have none: give --images")
	}
	if c.Events > 0 && a.config.Features != "" {
		return usagef("--events needs to know when photos were taken, and features do not say it: give --images")
	}
	if a.config.Scan.Shard != "" {
		switch {
		case c.Adapt:
			return usagef("--adapt looks at all photos of a job, so it cannot use --shard: the shards would differ")
		case c.Events > 0:
			return usagef("--events looks at all photos of a camera, so it cannot use --shard: events would be cut")
		case c.Split != "":
			return usagef("--split keeps like photos together, wherever they lie, so it cannot use --shard")
		}
	}
	return a.checkExports()
}

// labelJob returns the job of labelling in with the model of a file, which may adapt
// to the images first. The results are for the folder dir.
func (a *app) labelJob(ctx context.Context, file string, m *model.Model, in input, dir string) (job label.Job,
	err error) {
	c := a.config.Label
	job = label.Job{
		Config: c, Head: m.Predictor, Images: in, Out: dir, Method: m.Method, Model: m.SHA256(), Notes: in.notes,
		Held: m.Predictor.Calibration, Boxed: in.boxed,
	}
	if job.Decided, err = teach.Decided(file, m); err != nil {
		return job, err
	}
	if c.Only != "" {
		job.Images = decidedOnly{in, job.Decided}
	}
	if share := m.Predictor.OldShare; share != 0 {
		job.Notes = append(job.Notes, share.Note())
	}
	threshold, err := m.Threshold(c.Reject)
	if err != nil {
		return job, err
	}
	job.Threshold = label.Above(threshold)
	if note := advice.Rejected(m, c.Reject); note != "" {
		a.say("%s", note)
		job.Notes = append(job.Notes, note)
	}
	if c.Adapt {
		head, err := adapt.Fit(ctx, m, in)
		if err != nil {
			return job, err
		}
		a.say("%s", head.Note())
		job.Head, job.Notes = head, append(job.Notes, head.Note())
	}
	places, err := a.deployments()
	if err != nil {
		return job, err
	}
	page := report.PageOf(m, version)
	var seen []*events.Event
	if c.Events > 0 {
		if seen, err = a.labelEvents(ctx, in, places, &job, &page); err != nil {
			return job, err
		}
	}
	if c.Split != "" {
		if err := a.split(ctx, &job); err != nil {
			return job, err
		}
	}
	defer func() {
		if err != nil {
			for _, s := range job.Sinks {
				s.Abort()
			}
		}
	}()
	tree, err := a.sinks(c, in, dir)
	job.Sinks = append(job.Sinks, tree...)
	if err == nil {
		err = addExports(ctx, m, in, places, seen, &job)
	}
	if err != nil || !c.Report {
		return job, err
	}
	truth, err := label.NewEvaluation(m.Classes(), true)
	if err != nil {
		return job, err
	}
	truth.Learned = learnedBy(m)
	page.Title, page.MaxThumbnails = pageTitle(file, in.root), c.Thumbnails
	page.Subtitle = "Labels; " + page.Subtitle
	job.Sinks = append(job.Sinks, truth, a.page(ctx, page, in, truth, job.Threshold.Novelty()))
	return job, nil
}

// atMost is what is promised of labels that nobody has checked.
const atMost = 0.99

// summaryLines describe the results in a folder.
func summaryLines(s label.Summary, boxed *dataset.BoxesFound, dir string) (l lines) {
	l.add("labelled %s (%d rejected, %d failed) into %s", items(s.Labelled, boxed), s.Rejected, s.Failed, dir)
	if p := s.Photos; p != nil {
		l.add("they are on %d of %s; the others are empty", p.Photos-p.Empty, plural(p.Photos, "photo", "photos"))
	}
	var decided []string
	for _, by := range []struct {
		who  label.By
		said string
	}{
		{label.Person, "decided by a person"}, {label.Bulk, "accepted in bulk"},
		{label.List, "learned from a folder or list"}, {label.Later, "for later"},
		{label.Detector, "named by the detector"},
	} {
		if n := s.Decided[by.who]; n > 0 {
			decided = append(decided, fmt.Sprintf("%d %s", n, by.said))
		}
	}
	if len(decided) > 0 {
		l.add("not labelled by the model: %s", strings.Join(decided, ", "))
	}
	if e := s.Expected; e != nil {
		l.add("expect about %.0f %% of these labels to be right, likely %.0f to %.0f %%, if the photos show classes "+
			"of the model", 100*min(e.Accuracy, atMost), 100*e.Low, 100*e.High)
	}
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(s.Skipped)) {
		if n := s.Skipped[kind]; kind == "sidecar" {
			kinds = append(kinds, fmt.Sprintf("%d text or sidecar", n))
		} else if kind != "filtered" { // those are not what was asked for
			kinds = append(kinds, fmt.Sprintf("%d %s", n, kind))
		}
	}
	if len(kinds) > 0 {
		l.add("skipped: %s", strings.Join(kinds, ", "))
	}
	return l
}

// requireInput returns a usage error unless there is an input and --out.
func (a *app) requireInput() error {
	return a.require([2]string{"images", cmp.Or(a.config.Images, a.config.List, a.config.Features)},
		[2]string{"out", a.config.Out})
}

// tableAsFolder refuses an --out such as labels.csv: the folder of that name would
// have the table inside.
func tableAsFolder(out string) error {
	switch kind := filepath.Ext(out); kind {
	case ".csv", ".jsonl", ".parquet":
		if _, err := os.Stat(out); errors.Is(err, fs.ErrNotExist) {
			folder := strings.TrimSuffix(out, kind)
			return usagef("--out names a folder: with --out %s the table is %s", folder,
				filepath.Join(folder, "labels"+kind))
		}
	}
	return nil
}

// thumbnailSide is the longer side of a picture on a page.
const thumbnailSide = 160

// pageTitle names a page after its model and the folder of its photos.
func pageTitle(model, photos string) string {
	if full, err := filepath.Abs(photos); err == nil { // "." has no name
		photos = full
	}
	return strings.TrimSuffix(filepath.Base(model), ".model") + ": " + filepath.Base(photos)
}

// page returns a sink that writes report.html into a folder.
func (a *app) page(ctx context.Context, p report.Page, in input, truth *label.Evaluation,
	threshold float64) *report.Sink {
	if !math.IsInf(threshold, 1) {
		p.Threshold = &threshold
	}
	page := report.NewSink(ctx, p)
	page.Root = in.root
	page.File, page.Evaluation, page.Threads = filepath.Join(a.report, reportName), truth, a.config.Workers()
	page.Picture = in.picture(ctx)
	return page
}

// picture returns a function that makes the thumbnail of an image, or of a box in one.
func (in input) picture(ctx context.Context) func(dataset.Sample) ([]byte, error) {
	return func(s dataset.Sample) (jpeg []byte, err error) {
		file := dataset.FullPath(in.root, s.File())
		if s.Box != nil {
			jpeg, _, err = in.embedder.BoxThumbnail(ctx, file, s.Box, thumbnailSide)
		} else {
			jpeg, _, err = in.embedder.Thumbnail(ctx, file, thumbnailSide)
		}
		return jpeg, err
	}
}

// crop returns a function that makes a picture of what the backbone sees of a box.
func (in input) crop(ctx context.Context) func(file string, b *dataset.Box) ([]byte, error) {
	return func(file string, b *dataset.Box) ([]byte, error) { return in.embedder.Crop(ctx, file, b) }
}

// empty are the photos in which a detector found nothing. None of them is decided.
func (in input) empty(c label.Config) (photos []dataset.BoxedPhoto) {
	if in.boxed == nil || c.Only != "" {
		return nil
	}
	for _, p := range in.boxed.Photos {
		if p.Boxes == 0 {
			photos = append(photos, p)
		}
	}
	return photos
}

// sinks returns the outputs that the settings ask for in addition to the tables, for
// photos of an input.
func (a *app) sinks(c label.Config, in input, dir string) (sinks []label.Sink, err error) {
	if how := c.Organise; how != "" {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, fmt.Errorf("output folder: %w", err)
		}
		tree, err := organise.NewTree(organise.How(how), in.root, filepath.Join(dir, "by-class"), in.empty(c)...)
		if err != nil {
			return nil, err
		}
		a.sayLinks(organise.How(how), tree.How())
		sinks = append(sinks, tree)
	}
	if c.XMP {
		sinks = append(sinks, organise.NewSidecars(in.root, in.boxed))
	}
	return sinks, nil
}

// sayLinks says so if folders do not have the symbolic links that they should.
func (a *app) sayLinks(asked, made organise.How) {
	if asked != made {
		a.log.Warn("symbolic links cannot be made here (on Windows, turn on developer mode): the folders have " +
			"further names of the photos instead, so an edit of one changes the photo; on another drive, copies")
	}
}

// partial returns a partialError if some inputs failed. The file says why.
func partial(failed int, file string) error {
	if failed == 0 {
		return nil
	}
	return partialError{failed, file}
}
