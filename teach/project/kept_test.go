package project

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var kept = flag.String("keep", "", "write the files of this `version` into testdata, for later versions to read")

const keptFiles = "testdata/kept"

// TestKeptFiles: projects of every earlier version are opened.
func TestKeptFiles(t *testing.T) {
	if *kept != "" {
		dir := folders(t, "photos")
		p := made(t, Project{
			Dir: filepath.Join(dir, "p.project"), Images: filepath.Join(dir, "photos"), Network: "default",
		})
		text, err := os.ReadFile(filepath.Join(p.Dir, fileName))
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(keptFiles, *kept)
		if err := os.MkdirAll(to, 0o755); err != nil {
			t.Fatal(err)
		}
		text = bytes.ReplaceAll(text, []byte(dir), []byte("/nowhere"))
		if err := os.WriteFile(filepath.Join(to, fileName), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	versions, err := os.ReadDir(keptFiles)
	if err != nil || len(versions) == 0 {
		t.Fatalf("no kept files: %v", err)
	}
	for _, version := range versions {
		dir := folders(t, "photos")
		copied := filepath.Join(dir, "p.project")
		if err := os.CopyFS(copied, os.DirFS(filepath.Join(keptFiles, version.Name()))); err != nil {
			t.Fatal(err)
		}
		want := Project{Dir: copied, Images: filepath.Join(dir, "photos"), Network: "default"}
		if p, err := Open(copied); err != nil || p != want {
			t.Errorf("%s: %+v, %v, want %+v", version.Name(), p, err, want)
		}
	}
}
