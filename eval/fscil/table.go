package fscil

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// A Table compares results of one data set and one track; cells are percent.
type Table struct {
	Dataset, Track string
	// Header names the columns.
	Header []string
	// Rows of ours come first, then the published ones.
	Rows [][]string
	// Published is the number of published rows.
	Published int
}

const none = "–"

// NewTable puts results beside the published rows of their data set and track,
// which must be the same for all.
func NewTable(results []Result) (Table, error) {
	if len(results) == 0 {
		return Table{}, fmt.Errorf("table: no results")
	}
	first := results[0]
	t := Table{Dataset: first.Dataset, Track: first.Track}
	sessions := 0
	for _, r := range results {
		if r.Dataset != t.Dataset || r.Track != t.Track {
			return Table{}, fmt.Errorf("table: %s on %s (%s) and %s on %s (%s) cannot share a table", first.Method, t.Dataset, t.Track, r.Method, r.Dataset, r.Track)
		}
		sessions = max(sessions, len(r.Sessions))
	}
	published, err := Published(t.Dataset, t.Track)
	if err != nil {
		return Table{}, err
	}
	t.Published = len(published)
	t.Header = header(sessions)
	for _, r := range results {
		t.Rows = append(t.Rows, r.row(sessions))
	}
	for _, r := range published {
		t.Rows = append(t.Rows, r.row(sessions))
	}
	return t, nil
}

func header(sessions int) []string {
	h := []string{"method", "backbone", "source"}
	for s := range sessions {
		h = append(h, strconv.Itoa(s+1))
	}
	return append(h, "average", "final", "drop", "base", "novel", "harmonic mean", "forgetting")
}

func (r Result) row(sessions int) []string {
	source := "this run"
	if r.Runs > 1 {
		source = fmt.Sprintf("these %d runs, ± SEM", r.Runs)
	}
	row := []string{r.method(), r.Backbone, source}
	for s := range sessions {
		cell := none
		if s < len(r.Sessions) {
			cell = r.Sessions[s].cell()
		}
		row = append(row, cell)
	}
	last := r.Sessions[len(r.Sessions)-1]
	return append(row, percent(r.AverageAccuracy), percent(r.FinalAccuracy), percent(r.PerformanceDrop),
		percent(last.Base), percentOf(last.Novel), percentOf(last.Harmonic), percent(r.AverageForgetting))
}

func (s SessionResult) cell() string {
	if s.AccuracySEM == nil {
		return percent(s.Accuracy)
	}
	return percent(s.Accuracy) + " ± " + percent(*s.AccuracySEM)
}

func percent(fraction float64) string { return strconv.FormatFloat(100*fraction, 'f', 2, 64) }

func percentOf(fraction *float64) string {
	if fraction == nil {
		return none
	}
	return percent(*fraction)
}

func (r PublishedRow) row(sessions int) []string {
	row := []string{r.Method, r.Backbone, r.Source}
	curve := r.curve(sessions)
	for _, v := range curve {
		row = append(row, printed(v))
	}
	first, last := curve[0], curve[sessions-1]
	row = append(row, printed(r.average()), printed(last), none)
	if first != nil && last != nil && sessions > 1 {
		drop := *first - *last
		row[len(row)-1] = printed(&drop)
	}
	return append(row, none, none, none, none)
}

// curve returns the accuracy of every session, nil where it is not known.
func (r PublishedRow) curve(sessions int) []*float64 {
	curve := make([]*float64, sessions)
	curve[0], curve[sessions-1] = r.First, r.Last
	for s := range min(sessions, len(r.Accuracy)) {
		curve[s] = &r.Accuracy[s]
	}
	return curve
}

func (r PublishedRow) average() *float64 {
	if len(r.Accuracy) == 0 {
		return r.Average
	}
	var sum float64
	for _, v := range r.Accuracy {
		sum += v
	}
	sum /= float64(len(r.Accuracy))
	return &sum
}

func printed(percent *float64) string {
	if percent == nil {
		return none
	}
	return strconv.FormatFloat(*percent, 'f', 2, 64)
}

// WriteCSV writes the table with its header; unknown cells are empty.
func (t Table) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write(t.Header); err != nil {
		return err
	}
	for _, row := range t.Rows {
		row = slices.Clone(row)
		for i, cell := range row {
			if cell == none {
				row[i] = ""
			}
		}
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// WriteMarkdown writes the table for people, with what its columns mean.
func (t Table) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s, track %s\n\n%s\n\n", t.Dataset, t.Track, trackText(t.Track))
	b.WriteString(markdownRow(t.Header))
	b.WriteString(markdownRow(alignment(len(t.Header))))
	for _, row := range t.Rows {
		b.WriteString(markdownRow(row))
	}
	b.WriteString("\nPercent. 1, 2, …: accuracy over all classes so far after that session; average: its mean over\n" +
		"sessions; final: the last one; drop: first minus last. base, novel, harmonic mean, forgetting: after\n" +
		"the last session.")
	if t.Published == 0 {
		b.WriteString(" No published row of this data set and track is known here; rows of other\ntracks are not comparable and are left out.")
	}
	_, err := io.WriteString(w, b.String()+"\n")
	return err
}

func trackText(track string) string {
	switch track {
	case BaseOnly:
		return "Backbones trained on the base session's images and nothing else."
	case PretrainedDisjoint:
		return "Backbones pretrained on other images, of classes other than the novel ones."
	}
	return "Backbones that have seen, or may have seen, the novel classes. Not comparable with other tracks."
}

func alignment(columns int) []string {
	row := []string{"---", "---", "---"}
	for len(row) < columns {
		row = append(row, "---:")
	}
	return row
}

func markdownRow(cells []string) string {
	escaped := make([]string, len(cells))
	for i, c := range cells {
		escaped[i] = strings.ReplaceAll(strings.ReplaceAll(c, "|", `\|`), "\n", " ")
	}
	return "| " + strings.Join(escaped, " | ") + " |\n"
}
