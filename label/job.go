package label

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/phrase"
	"github.com/seed-90d10d51/pipeline/internal/printable"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/model/account"
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

// A Summary counts what a run did. Two runs over the same images differ only in
// Timing.
type Summary struct {
	Labelled int `json:"labelled"`
	// Photos counts those whose boxes were labelled, nil if photos were labelled whole.
	Photos *Photos `json:"photos,omitempty"`
	Failed int     `json:"failed"`
	// Rejected images are among the labelled ones.
	Rejected int `json:"rejected"`
	// Decided counts those whose label people gave, by who did.
	Decided map[By]int `json:"decided"`
	// Account counts all photos, and Expected is its own.
	Account  account.Account   `json:"account"`
	Expected *account.Expected `json:"expected,omitempty"`
	// Skipped counts the files that are not images, by kind.
	Skipped map[string]int `json:"skipped"`
	// Notes say what to know about the labels, such as another decoder of photos
	// than the model's.
	Notes []string `json:"notes,omitempty"`
	// Adapted says what the photos were told by each other, nil if each was labelled by itself.
	Adapted *Adapted `json:"adapted"`
	// Files are the result files, in order.
	Files []string `json:"files"`
	// Settings and Hashes identify what computed the labels.
	Settings map[string]any    `json:"settings"`
	Hashes   map[string]string `json:"hashes"`
	Timing   Timing            `json:"timing"`
}

// Adapted says how photos were compared with each other before they were labelled.
type Adapted struct {
	// By is how: graph, by those most alike.
	By string `json:"by"`
	// Photos counts the different ones, and Neighbours those that each was compared with.
	Photos     int `json:"photos"`
	Neighbours int `json:"neighbours"`
	// Present is about how many of the classes the folder shows.
	Present int `json:"present"`
}

// Timing records how fast a run was, and how much came from the cache.
type Timing struct {
	Seconds         number `json:"seconds"`
	ImagesPerSecond number `json:"images_per_second"`
	// Cached embeddings came from the cache, Inferred ones from the backbone;
	// Read is the number of files opened.
	Cached   int `json:"cached"`
	Inferred int `json:"inferred"`
	Read     int `json:"read"`
}

// summaryName is the file that is written last.
const summaryName = dataset.RunSummary

// A summarySink counts, and is committed last: if summary.json exists, the
// other files are complete.
type summarySink struct {
	Summary
	dir   string
	start time.Time
	took  time.Duration // until the last row
	sinks []Sink        // committed before it
	count *Count        // one of them
}

func (s *summarySink) Put(row Scored) error {
	s.took = time.Since(s.start)
	s.Labelled++
	if row.Rejected {
		s.Rejected++
	}
	if row.By != "" {
		s.Decided[row.By]++
	}
	return nil
}

// Commit writes errors.csv and summary.json.
func (s *summarySink) Commit(o embedding.Outcome) error {
	took := max(s.took, time.Nanosecond) // a coarse clock must not make the rate infinite
	s.Failed, s.Skipped = len(o.Problems), o.Skipped
	for _, sink := range s.sinks {
		if lister, ok := sink.(Lister); ok {
			s.Files = append(s.Files, lister.Files()...)
		}
	}
	if err := s.removeOther(); err != nil {
		return err
	}
	s.Account = s.count.Account()
	s.Expected = s.Account.Expected
	s.Timing = Timing{
		Seconds:         number(took.Seconds()),
		ImagesPerSecond: number(float64(s.Labelled) / took.Seconds()),
		Cached:          o.Cached,
		Inferred:        o.Inferred,
		Read:            o.Read,
	}
	if err := WriteProblems(filepath.Join(s.dir, "errors.csv"), o.Problems); err != nil {
		return err
	}
	text, err := json.MarshalIndent(s.Summary, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(filepath.Join(s.dir, summaryName), append(text, '\n'))
}

// removeOther removes tables of an earlier job that this one does not have.
func (s *summarySink) removeOther() error {
	earlier := results(s.dir)
	for _, name := range []string{photosName, EventsName, SpeciesName, ActivityName + ".csv", ActivityName + ".svg",
		ActivityName + ".png"} {
		if !slices.Contains(earlier, name) || slices.Contains(s.Files, name) {
			continue
		}
		if err := atomicfile.Remove(filepath.Join(s.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (s *summarySink) Abort() {}

// Finished reports whether a job has written all its results into a folder.
func Finished(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, summaryName))
	return err == nil
}

// results returns the result files of the job that finished in a folder; none if that
// cannot be read.
func results(dir string) []string {
	const mostBytes = 1 << 24
	text, err := regularfile.Read(filepath.Join(dir, summaryName), mostBytes)
	if err != nil {
		return nil
	}
	var s struct{ Files []string }
	if json.Unmarshal(text, &s) != nil {
		return nil
	}
	return s.Files
}

// WriteProblems writes the failed inputs as path,error rows sorted by path. It
// writes the file even if it is empty, to show that nothing failed.
func WriteProblems(file string, problems []dataset.Problem) error {
	sorted := slices.SortedFunc(slices.Values(problems), func(a, b dataset.Problem) int {
		return strings.Compare(a.Path, b.Path)
	})
	var text bytes.Buffer
	rows := [][]string{{"path", "error"}}
	for _, p := range sorted {
		rows = append(rows, []string{dataset.SafeCell(dataset.EscapePath(p.Path)), dataset.SafeCell(oneLine(p.Err))})
	}
	if err := csv.NewWriter(&text).WriteAll(rows); err != nil {
		return err
	}
	return atomicfile.WriteFile(file, text.Bytes())
}

func oneLine(err error) string {
	return printable.Text(strings.ToValidUTF8(strings.ReplaceAll(err.Error(), "\n", "; "), "�"))
}
