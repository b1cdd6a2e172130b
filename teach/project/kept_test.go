package project

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// TestKeptFiles: projects of every earlier version are opened.
func TestKeptFiles(t *testing.T) {
	testenv.Kept(t, func(kept string) {
		dir := folders(t, "photos")
		p := made(t, Project{
			Dir: filepath.Join(dir, "p.project"), Images: filepath.Join(dir, "photos"), Network: "default",
		})
		text := must.Get(os.ReadFile(filepath.Join(p.Dir, fileName)))(t)
		text = bytes.ReplaceAll(text, []byte(dir), []byte("/nowhere"))
		must.Do(t, os.WriteFile(filepath.Join(kept, fileName), text, 0o644))
	}, func(version, kept string) {
		dir := folders(t, "photos")
		copied := filepath.Join(dir, "p.project")
		must.Do(t, os.CopyFS(copied, os.DirFS(kept)))
		want := Project{Dir: copied, Images: filepath.Join(dir, "photos"), Network: "default"}
		if p, err := Open(copied); err != nil || p != want {
			t.Errorf("%s: %+v, %v, want %+v", version, p, err, want)
		}
	})
}
