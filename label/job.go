package label

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/phrase"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
	"github.com/seed-90d10d51/pipeline/model"
)

// A Job labels images: a Pass whose first sinks are the result files.
type Job struct {
	Config Config
	Head   classifier.Head
	// Threshold is as in Scorer.
	Threshold Threshold
	Images    embedding.Rows
	// Out is the folder for the results; it is created if missing.
	Out string
	// Boxed are the photos whose boxes are the images, nil for whole photos.
	Boxed *dataset.BoxesFound
	// Events is as in Scorer.
	Events func(Scored) *Event
	// Sinks receive every labelled image as well.
	Sinks []Sink
	// Method, and Model (the SHA-256 of the MODEL file), go into summary.json
	// with Config and the provenance of the embeddings.
	Method, Model string
	// Decided is as in Scorer.
	Decided Decisions
	// Split is as in Scorer; Splits are its parts.
	Split  func(content [sha256.Size]byte) string
	Splits []string
	// Notes go into summary.json too, and so does Adapted.
	Notes   []string
	Adapted *Adapted
	// Held is what held-out examples told about Head, for what to expect.
	Held calibration.Calibration
	// Count makes the account; nil stands for one of Head without its examples.
	Count *Count
}

// Run labels every image, writes the result files and returns their summary.
// Images that fail are rows of errors.csv, not errors. A second job on the
// same folder is refused.
func (j Job) Run(ctx context.Context) (Summary, error) {
	j.Config = j.Config.resolved()
	if j.Count == nil && j.Head != nil {
		j.Count = NewCount(j.Held, unlearned(j.Head.Classes()))
	}
	tables := &tables{dir: j.Out, more: j.columns(), count: j.Count}
	defer abort(append(j.Sinks, tables))
	if err := j.check(); err != nil {
		return Summary{}, err
	}
	unlock, err := lock(j.Out)
	if err != nil {
		return Summary{}, err
	}
	defer unlock()
	if err := tables.create(j.Config); err != nil {
		return Summary{}, err
	}
	last := &summarySink{
		Summary: j.summary(), dir: j.Out, start: time.Now(), sinks: j.sinks(tables), count: j.Count,
	}
	if kept, ok := j.Images.(*Kept); ok {
		last.start = kept.began
	}
	_, err = j.Pass(append(slices.Clone(last.sinks), last)...).Run(ctx)
	return last.Summary, err
}

// unlearned are classes of which nobody knows the examples.
func unlearned(classes []string) []model.ClassInfo {
	out := make([]model.ClassInfo, len(classes))
	for i, name := range classes {
		out[i] = model.ClassInfo{Name: name, Samples: -1}
	}
	return out
}

// check refuses a job without what none can do without, before it touches its folder.
func (j Job) check() error {
	switch {
	case j.Out == "":
		return errors.New("no folder for the results is given: set Out")
	case j.Images == nil:
		return errNoRows
	case j.Head == nil:
		return classifier.ErrNotFitted
	}
	return j.Config.Validate()
}

// Pass returns a pass over the images for some sinks.
func (j Job) Pass(sinks ...Sink) Pass {
	scorer := j.Config.Scorer(j.Head, j.Threshold, j.Held)
	scorer.Decided, scorer.Events, scorer.Split = j.Decided, j.Events, j.Split
	return Pass{Scorer: scorer, Rows: j.Images, Sinks: sinks}
}

// columns returns those that the tables have besides the usual ones.
func (j Job) columns() (more []column) {
	if j.Boxed != nil {
		more = append(more, boxColumns()...)
	}
	if j.Events != nil {
		more = append(more, eventColumns()...)
	}
	if j.Split != nil {
		more = append(more, splitColumn()...)
	}
	return more
}

// sinks returns the tables and all other results.
func (j Job) sinks(t *tables) []Sink {
	all := []Sink{j.Count, t}
	if j.Boxed != nil {
		boxed := *j.Boxed
		if j.Config.Only != "" { // nobody decided that a photo has no box
			boxed.Photos = slices.DeleteFunc(slices.Clone(boxed.Photos),
				func(p dataset.BoxedPhoto) bool { return p.Boxes == 0 })
		}
		all = append(all, newPhotoTable(j.Out, boxed))
	}
	return append(all, j.Sinks...)
}

func (j Job) summary() Summary {
	from := j.Images.Provenance()
	return Summary{
		Photos:  photosOf(j.Boxed),
		Decided: map[By]int{Person: 0, Bulk: 0, List: 0}, Notes: j.Notes, Adapted: j.Adapted,
		Settings: map[string]any{"classifier": j.Method, "label": j.Config, "preprocess": from.Preprocess,
			"backbone": from.Backbone.Name},
		Hashes: map[string]string{
			"model": j.Model, "backbone": from.Backbone.SHA256,
			"extractor": from.ExtractorFingerprint, "preprocess": from.PreprocessFingerprint,
		},
	}
}

func lock(dir string) (unlock func(), err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("output folder: %w", err)
	}
	l, err := regularfile.Lock(filepath.Join(dir, ".lock"))
	if err != nil {
		return nil, fmt.Errorf("output folder: %w", err)
	}
	ok, err := l.TryLock()
	if err != nil {
		return nil, fmt.Errorf("output folder %s: %w", dir, err)
	}
	if !ok {
		return nil, phrase.New("output folder %s: another job is writing to it; wait for it or give another {out}",
			dir)
	}
	if _, err := atomicfile.RemoveStale(dir); err != nil {
		return nil, errors.Join(err, l.Unlock())
	}
	return func() { _ = l.Unlock() }, nil
}

// tables writes the result files of all formats.
type tables struct {
	dir     string
	more    []column
	count   *Count // is committed before
	outputs []*output
	files   []string // after Commit
}

func (t *tables) create(c Config) error {
	for _, format := range c.Format {
		if !slices.Contains(tableFormats(), format) {
			continue
		}
		o, err := createOutput(t.dir, format, c.RowsPerFile, t.more...)
		t.outputs = append(t.outputs, o)
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *tables) Put(s Scored) error {
	row := newRow(s)
	for _, o := range t.outputs {
		if err := o.write(row); err != nil {
			return fmt.Errorf("write labels: %w", err)
		}
	}
	return nil
}

func (t *tables) Commit(embedding.Outcome) error {
	for _, o := range t.outputs {
		o.tell(t.count.Account())
		names, err := o.commit()
		if err != nil {
			return fmt.Errorf("write labels: %w", err)
		}
		t.files = append(t.files, names...)
	}
	return nil
}

// Files implements Lister.
func (t *tables) Files() []string { return t.files }

func (t *tables) Abort() {
	for _, o := range t.outputs {
		o.abort()
	}
}
