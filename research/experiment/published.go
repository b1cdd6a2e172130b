package experiment

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/seed-90d10d51/pipeline/research/table"
)

//go:embed published.yaml
var publishedYAML []byte

// A Published table holds accuracies printed in a paper, in percent.
type Published struct {
	Title   string `yaml:"title"`
	Columns []int  `yaml:"columns"`
	Rows    []struct {
		Name string `yaml:"name"`
		// Accuracy has one value per column, nil where the paper has none.
		Accuracy []*float64 `yaml:"accuracy"`
	} `yaml:"rows"`
}

// PublishedTable returns one of the named tables; "" is an empty table.
func PublishedTable(name string, names ...string) (Published, error) {
	if name == "" {
		return Published{}, nil
	}
	if !slices.Contains(names, name) {
		return Published{}, fmt.Errorf("published: %q is none of %v", name, names)
	}
	var all map[string]Published
	d := yaml.NewDecoder(bytes.NewReader(publishedYAML))
	d.KnownFields(true)
	if err := d.Decode(&all); err != nil {
		return Published{}, fmt.Errorf("published tables: %w", err)
	}
	for _, r := range all[name].Rows {
		if len(r.Accuracy) != len(all[name].Columns) {
			return Published{}, fmt.Errorf("published %s, %s: %d values for %d columns", name, r.Name, len(r.Accuracy),
				len(all[name].Columns))
		}
	}
	return all[name], nil
}

// Cells returns row i arranged under the given columns instead of the paper's.
func (p Published) Cells(i int, columns []int) []string {
	cells := make([]string, len(columns))
	for j, c := range columns {
		cells[j] = table.None
		if k := slices.Index(p.Columns, c); k >= 0 && p.Rows[i].Accuracy[k] != nil {
			cells[j] = fmt.Sprintf("%.2f", *p.Rows[i].Accuracy[k])
		}
	}
	return cells
}
