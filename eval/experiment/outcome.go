package experiment

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/chart"
)

// An Outcome is what an experiment found.
type Outcome struct {
	// Title is the heading of table.md.
	Title string
	// Findings say in words what holds; they stand before the tables.
	Findings []string
	// Results becomes results.json.
	Results any
	// Tables; the first is table.csv.
	Tables  []Table
	Figures []chart.Figure
}

// A Table is one of an experiment's tables. All rows are as long as the header.
type Table struct {
	// Name is the file's name without its ending; that of the first table is
	// "table" in any case.
	Name string
	// Title and Note stand above and below it in table.md.
	Title, Note string
	Header      []string
	Rows        [][]string
}

// None is the cell of a value that is not known; it is empty in CSV files.
const None = "–"

// Percent writes a fraction.
func Percent(fraction float64) string { return fmt.Sprintf("%.2f", 100*fraction) }

// Write writes everything into a folder, with the resolved settings.
func (o Outcome) Write(dir string, settings []byte) error {
	files := map[string][]byte{"table.md": o.markdown(), "config.yaml": settings}
	text, err := json.MarshalIndent(o.Results, "", "  ")
	if err != nil {
		return fmt.Errorf("results.json: %w", err)
	}
	files["results.json"] = append(text, '\n')
	for i, t := range o.Tables {
		name := t.Name
		if i == 0 {
			name = "table"
		}
		if files[name+".csv"], err = t.csv(); err != nil {
			return fmt.Errorf("table %s: %w", name, err)
		}
	}
	for _, f := range o.Figures {
		for _, format := range []string{"png", "svg"} {
			if files[f.Name+"."+format], err = f.Encode(format); err != nil {
				return err
			}
		}
	}
	return writeAll(dir, files)
}

func writeAll(dir string, files map[string][]byte) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, text := range files {
		if err := atomicfile.WriteFile(filepath.Join(dir, name), text); err != nil {
			return err
		}
	}
	return nil
}

func (t Table) csv() ([]byte, error) {
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

func (o Outcome) markdown() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n", o.Title)
	if len(o.Findings) > 0 {
		b.WriteByte('\n')
	}
	for _, f := range o.Findings {
		fmt.Fprintf(&b, "- %s\n", f)
	}
	for _, t := range o.Tables {
		t.writeMarkdown(&b)
	}
	return b.Bytes()
}

func (t Table) writeMarkdown(b *bytes.Buffer) {
	if t.Title != "" {
		fmt.Fprintf(b, "\n## %s\n", t.Title)
	}
	b.WriteString("\n" + markdownRow(t.Header))
	rule := make([]string, len(t.Header))
	for i := range rule {
		rule[i] = "---"
	}
	b.WriteString(markdownRow(rule))
	for _, row := range t.Rows {
		b.WriteString(markdownRow(row))
	}
	if t.Note != "" {
		b.WriteString("\n" + t.Note + "\n")
	}
}

func markdownRow(cells []string) string {
	escaped := make([]string, len(cells))
	for i, c := range cells {
		escaped[i] = strings.ReplaceAll(strings.ReplaceAll(c, "|", `\|`), "\n", " ")
	}
	return "| " + strings.Join(escaped, " | ") + " |\n"
}
