package command

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestClicked: without a terminal, a desktop is needed, and somebody who reads what the
// program prints gets the help as before.
func TestClicked(t *testing.T) {
	null := must.Get(os.OpenFile(os.DevNull, os.O_RDWR, 0))(t)
	defer null.Close()
	file := must.Get(os.Create(filepath.Join(t.TempDir(), "out")))(t)
	defer file.Close()
	r, w := must.Get2(os.Pipe())(t)
	defer r.Close()
	defer w.Close()
	desktop := func(name string) string { return map[string]string{"WAYLAND_DISPLAY": "wayland-0"}[name] }
	none := func(string) string { return "" }
	for _, c := range []struct {
		name    string
		stdout  io.Writer
		environ func(string) string
		want    bool
	}{
		{"a double click", null, desktop, true}, {"a job of a server", null, none, false},
		{"output in a file", file, desktop, false}, {"output to a program", w, desktop, false},
		{"called by a test", &bytes.Buffer{}, desktop, false},
	} {
		if got := clicked(null, c.stdout, c.environ); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
