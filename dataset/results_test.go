package dataset

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestResultsAreNoPhotos: what runs of label have written is no photo wherever it lies, by either way of
// looking; photos beside it are, and so is everything if the folder itself is asked for.
func TestResultsAreNoPhotos(t *testing.T) {
	const summary = `{"labelled": 2, "files": ["labels.csv", "imagefolder/train/metadata.jsonl", "activity.png"],
		"settings": {}, "hashes": {}}`
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(root, name)
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must.Do(t, os.WriteFile(file, []byte(text), 0o644))
	}
	for _, dir := range []string{".", "fox/labels", "labels"} {
		for _, name := range []string{"by-class/fox/a.jpg", "imagefolder/train/fox/a.jpg", "activity.png", "mine.jpg"} {
			write(filepath.Join(dir, name), "")
		}
		write(filepath.Join(dir, RunSummary), summary)
	}
	for dir, text := range map[string]string{
		"of another program": `{"labelled": 2, "files": ["by-class/a.jpg"]}`, "cut": summary[:40], "list": "[]",
	} {
		write(filepath.Join(dir, "by-class/a.jpg"), "")
		write(filepath.Join(dir, RunSummary), text)
	}
	want := []string{"cut/by-class/a.jpg", "fox/labels/mine.jpg", "labels/mine.jpg", "list/by-class/a.jpg", "mine.jpg",
		"of another program/by-class/a.jpg"}
	all := must.Get(Scan(t.Context(), root, ScanOptions{}))(t)
	walked := must.Get(Walk(t.Context(), root, ScanOptions{}))(t)
	for what, got := range map[string][]string{"scan": paths(all.Samples), "walk": paths(collected(t, walked))} {
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	if got := all.LeftOut; got.Results.N != 6 || got.Empty.N != 0 {
		t.Errorf("left out: %+v", got)
	}
	asked, err := Scan(t.Context(), filepath.Join(root, "by-class"), ScanOptions{})
	if got := paths(asked.Samples); err != nil || !slices.Equal(got, []string{"fox/a.jpg"}) {
		t.Errorf("the class folders themselves: %q, %v", got, err)
	}
}

func paths(samples []Sample) (out []string) {
	for _, s := range samples {
		out = append(out, s.Path)
	}
	return out
}

func collected(t *testing.T, s *Source) (out []Sample) {
	t.Helper()
	for sample := range s.Samples(t.Context()) {
		out = append(out, sample)
	}
	return out
}
