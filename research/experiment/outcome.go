package experiment

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/chart"
	"github.com/seed-90d10d51/pipeline/research/grid"
	"github.com/seed-90d10d51/pipeline/research/table"
)

// An Outcome is the result of an experiment or a benchmark.
type Outcome struct {
	// Title is the heading of table.md, Lead a paragraph under it.
	Title, Lead string
	// Results becomes results.json, Details details.json; nil means no file.
	Results, Details any
	// Tables are the tables of table.md; the first is also table.csv.
	Tables  []table.Table
	Figures []chart.Figure
}

// Results is the results.json of an experiment.
type Results struct {
	Kind  string    `json:"kind"`
	Cells grid.Grid `json:"cells"`
}

// encode returns a file of JSON, with one cell of an experiment per line.
func encode(v any) ([]byte, error) {
	r, ok := v.(Results)
	if !ok {
		text, err := json.MarshalIndent(v, "", "  ")
		return append(text, '\n'), err
	}
	var lines [][]byte
	for _, c := range r.Cells {
		text, err := json.Marshal(c)
		if err != nil {
			return nil, err
		}
		lines = append(lines, append([]byte("    "), text...))
	}
	return fmt.Appendf(nil, "{\n  \"kind\": %q,\n  \"cells\": [\n%s\n  ]\n}\n", r.Kind,
		bytes.Join(lines, []byte(",\n"))), nil
}

// Write writes everything into a folder, with the resolved settings unless they
// are nil. It creates the folder only once every file has been composed.
func (o Outcome) Write(dir string, settings []byte) error {
	files := map[string][]byte{}
	for _, f := range o.Figures {
		for _, format := range []string{"png", "svg"} {
			picture, err := f.Encode(format)
			if err != nil {
				return err
			}
			files[f.Name+"."+format] = picture
		}
	}
	if settings != nil {
		files["config.yaml"] = settings
	}
	for name, v := range map[string]any{"results.json": o.Results, "details.json": o.Details} {
		if v == nil {
			continue
		}
		text, err := encode(v)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		files[name] = text
	}
	if len(o.Tables) > 0 {
		files["table.md"] = []byte(o.markdown())
	}
	for i, t := range o.Tables {
		name := t.Name
		if i == 0 {
			name = "table"
		}
		var err error
		if files[name+".csv"], err = t.CSV(); err != nil {
			return fmt.Errorf("table %s: %w", name, err)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, folder := range []string{dir, filepath.Join(dir, partsFolder)} {
		_, _ = atomicfile.RemoveStale(folder) // leftovers of killed runs are harmless
	}
	for name, text := range files {
		if err := atomicfile.WriteFile(filepath.Join(dir, name), text); err != nil {
			return err
		}
	}
	return nil
}

func (o Outcome) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", o.Title)
	if o.Lead != "" {
		fmt.Fprintf(&b, "\n%s\n", o.Lead)
	}
	for _, t := range o.Tables {
		b.WriteString(t.Markdown())
	}
	return b.String()
}
