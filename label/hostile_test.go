package label_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestNoControlCharactersInResults: no name of a photo puts a control character into a file of results,
// which somebody may show in a terminal, and a list finds the same photo again.
func TestNoControlCharactersInResults(t *testing.T) {
	root, out := t.TempDir(), t.TempDir()
	rows := table{}
	for i, name := range []string{
		"\x1b[31mred", "\x07bell", "nul\x01", "del\x7f", "c1\u009b31m", "one\rtwo", "new\nline", "tab\t",
		"%1Bplain", "%251B", "\r\n", "=\x1b", "\xff\x1b",
	} {
		path := fmt.Sprintf("%02d%s.jpg", i, name)
		must.Do(t, os.WriteFile(filepath.Join(root, path), nil, 0o600))
		rows[path] = []float32{0.5}
	}
	job := newJob(t, rows, out, dataset.Problem{Path: "\x1bZ", Err: fmt.Errorf("\x1b[2J cannot be read")})
	job.Config.Format = []string{"csv", "jsonl"}
	must.Get(job.Run(context.Background()))(t)
	for _, file := range []string{"labels.csv", "labels.jsonl", "errors.csv", "summary.json"} {
		text := must.Get(os.ReadFile(filepath.Join(out, file)))(t)
		at := strings.IndexFunc(string(text), func(r rune) bool {
			return unicode.IsControl(r) && r != '\n' && r != '\t'
		})
		if at >= 0 {
			t.Errorf("%s: %q", file, text[max(0, at-20):at+5])
		}
	}
	for _, file := range []string{"labels.csv", "labels.jsonl"} {
		l, err := dataset.ReadList(filepath.Join(out, file), root, dataset.ListOptions{})
		if err != nil || len(l.Problems) > 0 || len(l.Samples) != len(rows) {
			t.Fatalf("%s: %d photos, %v, %v", file, len(l.Samples), l.Problems, err)
		}
		for _, s := range l.Samples {
			if _, ok := rows[s.Path]; !ok {
				t.Errorf("%s: %q is none of %d photos", file, s.Path, len(rows))
			}
		}
	}
}
