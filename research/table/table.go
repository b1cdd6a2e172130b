// Package table holds the tables of all experiments and benchmarks: rows of
// text under a header, written as Markdown, CSV or aligned text, and the cells
// in them: means with their spread, percentages, differences of pairs.
package table

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strings"
	"text/tabwriter"
)

// None is the cell of an unknown value; it is empty in CSV files.
const None = "–"

// A Table holds rows of cells, each row as long as the header.
type Table struct {
	// Name is the file name without its extension; the first table of an
	// experiment is always called "table".
	Name string
	// Title and Note are written above and below the table in Markdown.
	Title, Note string
	Header      []string
	Rows        [][]string
	// Text is the number of leading text columns, after which columns are
	// right-aligned; 0 aligns none.
	Text int
}

// Add appends a row.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// CSV returns the header and the rows; unknown cells are empty.
func (t Table) CSV() ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	for _, row := range append([][]string{t.Header}, t.Rows...) {
		cells := make([]string, len(row))
		for i, c := range row {
			if c != None {
				cells[i] = c
			}
		}
		if err := w.Write(cells); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

// Markdown returns the table with its title and its note.
func (t Table) Markdown() string {
	var b strings.Builder
	if t.Title != "" {
		fmt.Fprintf(&b, "\n## %s\n", t.Title)
	}
	rule := make([]string, len(t.Header))
	for i := range rule {
		rule[i] = "---"
		if t.Text > 0 && i >= t.Text {
			rule[i] = "---:"
		}
	}
	b.WriteByte('\n')
	clean := strings.NewReplacer("|", `\|`, "\n", " ")
	for _, row := range append([][]string{t.Header, rule}, t.Rows...) {
		b.WriteByte('|')
		for _, cell := range row {
			b.WriteString(" " + clean.Replace(cell) + " |")
		}
		b.WriteByte('\n')
	}
	if t.Note != "" {
		b.WriteString("\n" + t.Note + "\n")
	}
	return b.String()
}

// String returns the table as aligned text, for a terminal.
func (t Table) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{t.Header}, t.Rows...) {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	_ = w.Flush() // a Builder takes everything
	return strings.TrimSuffix(b.String(), "\n")
}
