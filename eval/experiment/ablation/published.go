package ablation

import (
	"bytes"
	_ "embed"
	"fmt"

	"go.yaml.in/yaml/v3"
)

//go:embed published.yaml
var publishedYAML []byte

// published is a table of the paper, in percent.
type published struct {
	Title string `yaml:"title"`
	Q     []int  `yaml:"q"`
	Rows  []struct {
		Name     string    `yaml:"name"`
		Accuracy []float64 `yaml:"accuracy"`
	} `yaml:"rows"`
}

// publishedNames are those of the tables that can stand below ours.
func publishedNames() []string { return []string{"table3_2", "table3_3", "table3_4"} }

func readPublished(name string) (published, error) {
	var all map[string]published
	d := yaml.NewDecoder(bytes.NewReader(publishedYAML))
	d.KnownFields(true)
	if err := d.Decode(&all); err != nil {
		return published{}, fmt.Errorf("published tables: %w", err)
	}
	for _, r := range all[name].Rows {
		if len(r.Accuracy) != len(all[name].Q) {
			return published{}, fmt.Errorf("published %s, %s: %d values for %d columns", name, r.Name, len(r.Accuracy), len(all[name].Q))
		}
	}
	return all[name], nil
}
