package events

import (
	"encoding/csv"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/label"
)

// A Table is a label.Sink that writes events.csv into a folder when all rows are written.
type Table struct {
	Dir    string
	Events []*Event
}

// Put implements label.Sink.
func (t Table) Put(label.Scored) error { return nil }

// Commit implements label.Sink.
func (t Table) Commit(embedding.Outcome) error {
	err := atomicfile.Write(filepath.Join(t.Dir, label.EventsName), func(f *atomicfile.File) error {
		w := csv.NewWriter(f)
		rows := [][]string{{"event", "start", "end", "camera", "n", "labels"}}
		for _, e := range t.Events {
			rows = append(rows, []string{e.Name, e.text(e.Start), e.text(e.End),
				dataset.SafeCell(dataset.EscapePath(e.Camera)), strconv.Itoa(e.Photos),
				dataset.SafeCell(dataset.JoinLabels(e.Labels...))})
		}
		return w.WriteAll(rows)
	})
	if err != nil {
		return fmt.Errorf("write %s: %w", label.EventsName, err)
	}
	return nil
}

// Files implements label.Lister.
func (t Table) Files() []string { return []string{label.EventsName} }

// Abort implements label.Sink.
func (t Table) Abort() {}

// text returns a time as ISO 8601, with its offset if that is known.
func (e *Event) text(t time.Time) string {
	switch {
	case t.IsZero():
		return ""
	case e.zoned:
		return t.Format("2006-01-02T15:04:05.999Z07:00")
	}
	return t.Format("2006-01-02T15:04:05.999")
}
