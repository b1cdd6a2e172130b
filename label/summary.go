package label

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
)

// A Summary counts what a run did. Two runs over the same images differ only in
// Timing.
type Summary struct {
	Labelled int `json:"labelled"`
	Failed   int `json:"failed"`
	// Rejected images are among the labelled ones.
	Rejected int `json:"rejected"`
	// Skipped counts the files that are not images, by kind.
	Skipped map[string]int `json:"skipped"`
	// Files are the result files, in order.
	Files []string `json:"files"`
	// Settings and Hashes identify what computed the labels.
	Settings map[string]any    `json:"settings"`
	Hashes   map[string]string `json:"hashes"`
	Timing   Timing            `json:"timing"`
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

// A summarySink counts, and is committed last: if summary.json exists, the
// other files are complete.
type summarySink struct {
	Summary
	dir    string
	start  time.Time
	took   time.Duration // until the last row
	tables *tables
}

// Put implements Sink.
func (s *summarySink) Put(row Scored) error {
	s.took = time.Since(s.start)
	s.Labelled++
	if row.Rejected {
		s.Rejected++
	}
	return nil
}

// Commit implements Sink: it writes errors.csv and summary.json.
func (s *summarySink) Commit(o embed.Outcome) error {
	took := max(s.took, time.Nanosecond) // a coarse clock must not make the rate infinite
	s.Failed, s.Skipped, s.Files = len(o.Problems), o.Skipped, s.tables.files
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
	return atomicfile.WriteFile(filepath.Join(s.dir, "summary.json"), append(text, '\n'))
}

// Abort implements Sink.
func (s *summarySink) Abort() {}

// WriteProblems writes the failed inputs as path,error rows sorted by path. It
// writes the file even if it is empty, to show that nothing failed.
func WriteProblems(file string, problems []dataset.Problem) error {
	sorted := slices.SortedFunc(slices.Values(problems), func(a, b dataset.Problem) int {
		return strings.Compare(a.Path, b.Path)
	})
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	rows := [][]string{{"path", "error"}}
	for _, p := range sorted {
		rows = append(rows, []string{dataset.SafeCell(dataset.EscapePath(p.Path)), dataset.SafeCell(oneLine(p.Err))})
	}
	if err := errors.Join(w.WriteAll(rows), w.Error()); err != nil {
		return err
	}
	return atomicfile.WriteFile(file, text.Bytes())
}

func oneLine(err error) string {
	return strings.ToValidUTF8(strings.ReplaceAll(err.Error(), "\n", "; "), "�")
}
