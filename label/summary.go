package label

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/printable"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
	"github.com/seed-90d10d51/pipeline/model/account"
)

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
