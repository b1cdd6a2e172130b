package label_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/label"
)

// A decision rules: over the most probable class, over the threshold, for a class that
// the head does not know, and for what is of no class.
func TestDecisionsRule(t *testing.T) {
	out := t.TempDir()
	job := newJob(t, table{"a.jpg": {0.5}, "b.jpg": {-9}, "c.jpg": {0.5}, "d.jpg": {0.5}, "e.jpg": {0.25},
		"f.jpg": {0.25}}, out)
	job.Threshold = label.Above(1) // b.jpg is novel
	decided := map[string]label.Decision{
		"a.jpg": {Class: "left", By: label.Person},
		"b.jpg": {Class: "left", By: label.Bulk},
		"c.jpg": {Class: "elsewhere", By: label.List},
		"d.jpg": {By: label.Person},
		"f.jpg": {Labels: []string{"right", "a;b"}, By: label.Person},
	}
	byContent := map[[sha256.Size]byte]label.Decision{}
	for path, d := range decided {
		byContent[content(path)] = d
	}
	job.Decided = func(content [sha256.Size]byte) (label.Decision, bool) {
		d, ok := byContent[content]
		return d, ok
	}
	summary := must.Get(job.Run(context.Background()))(t)
	digits := func(x float64) string { return fmt.Sprintf("%.7g", x) }
	left := 1 / (1 + math.Exp(1))
	for i, want := range [][]string{
		{"a.jpg", "left", digits(left), digits(left - (1 - left)), "false", "person"},
		{"b.jpg", "left", "1", "1", "false", "bulk"},
		{"c.jpg", "elsewhere", "0", digits(left - 1), "false", "list"},
		{"d.jpg", "", "", "", "false", "person"},
		{"e.jpg", "right", digits(1 / (1 + math.Exp(-0.5))), "", "false", ""},
		{"f.jpg", "a%3Bb;right", "", "", "false", "person"},
	} {
		row := readTable(t, filepath.Join(out, "labels.csv"))[i]
		if row[0] != want[0] || row[1] != want[1] || row[2] != want[2] || want[3] != "" && row[3] != want[3] ||
			row[6] != want[4] || row[9] != want[5] {
			t.Errorf("row %q, want %q", row, want)
		}
	}
	if d := summary.Decided; d[label.Person] != 3 || d[label.Bulk] != 1 || d[label.List] != 1 || summary.Rejected != 0 {
		t.Errorf("decided %v, rejected %d", d, summary.Rejected)
	}
}
