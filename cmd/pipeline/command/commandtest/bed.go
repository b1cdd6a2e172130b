package commandtest

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/internal/imagelib"
	"github.com/seed-90d10d51/pipeline/internal/ort"
	"github.com/seed-90d10d51/pipeline/internal/ort/orttest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// A Bed is a folder in which commands are run, with its own cache.
type Bed struct {
	testing.TB
	Dir string
	Env []string // for commands in another process
}

// New keeps every command away from the user's cache, except for the libraries. It skips the test on a
// machine without them.
func New(t *testing.T) *Bed {
	t.Helper()
	runtime := orttest.Open(t)
	dir := t.TempDir()
	settings := map[string]string{
		ort.EnvLibrary:   runtime.Library().Path, // otherwise a new home would hide it
		"XDG_CACHE_HOME": filepath.Join(dir, "user-cache"),
	}
	for _, l := range []imagelib.Library{imagelib.Vips(), imagelib.Heif()} {
		path, _, err := l.Find()
		if err != nil {
			testenv.Missing(t, "needs %s: run make setup (%v)", l.Name, err)
		}
		settings[l.Env] = path
	}
	l := &Bed{TB: t, Dir: dir, Env: append(os.Environ(), ActAsPipeline+"=1")}
	for name, value := range settings {
		t.Setenv(name, value)
		l.Env = append(l.Env, name+"="+value)
	}
	return l
}

// NewBare is New for commands that run no network.
func NewBare(t *testing.T) *Bed { return &Bed{TB: t, Dir: t.TempDir()} }

// With returns the testbed for a subtest.
func (l *Bed) With(t *testing.T) *Bed {
	sub := *l
	sub.TB = t
	return &sub
}

// Path returns a path in the testbed's folder.
func (l *Bed) Path(elem ...string) string {
	return filepath.Join(append([]string{l.Dir}, elem...)...)
}

// A Result is the output and exit code of a command.
type Result struct {
	Code           int
	Stdout, Stderr string
}

// Run executes a command in this process, with the testbed's cache.
func (l *Bed) Run(args ...string) Result {
	l.Helper()
	return l.RunWith(l.Path("cache"), args...)
}

// Studio is the application with the testbed's cache, for what is not about flags, printing and exit codes.
func (l *Bed) Studio() *pipeline.Studio {
	l.Helper()
	return must.Get(pipeline.Open(l.Context(), pipeline.WithCache(l.Path("cache")),
		pipeline.WithDefaultNetwork(Network())))(l)
}

// RunWith executes a command with another cache.
func (l *Bed) RunWith(cache string, args ...string) Result {
	l.Helper()
	var stdout, stderr bytes.Buffer
	code := command.Run(Context(context.Background()), append(args, "--cache", cache), &stdout, &stderr)
	return Result{code, stdout.String(), stderr.String()}
}

// Must runs a command that has to succeed.
func (l *Bed) Must(args ...string) Result {
	l.Helper()
	return l.Expect(command.ExitDone, args...)
}

// Expect runs a command that has to end with an exit code.
func (l *Bed) Expect(code int, args ...string) Result {
	l.Helper()
	r := l.Run(args...)
	if r.Code != code {
		l.Fatalf("pipeline %q: exit code %d, want %d\n%s%s", args, r.Code, code, r.Stdout, r.Stderr)
	}
	return r
}

// Refused runs a command that must fail with a message that contains all words.
func (l *Bed) Refused(code int, words []string, args ...string) {
	l.Helper()
	r := l.Expect(code, args...)
	for _, word := range words {
		if !strings.Contains(r.Stderr, word) {
			l.Errorf("pipeline %q does not say %q:\n%s", args, word, r.Stderr)
		}
	}
}

// Process returns a command that runs as another process when started.
func (l *Bed) Process(cache string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.Command(os.Args[0], append(args, "--cache", cache)...)
	var stderr bytes.Buffer
	cmd.Env, cmd.Stderr = l.Env, &stderr
	return cmd, &stderr
}

// Photos writes n different pictures of each class into dir/<class>/.
func (l *Bed) Photos(dir string, side, n int, classes ...string) string {
	l.Helper()
	for _, class := range classes {
		for i := range n {
			l.Write(filepath.Join(dir, class, fmt.Sprintf("%03d.jpg", i)), Photo(class, i, side))
		}
	}
	return dir
}

// Write writes a file and the folders above it.
func (l *Bed) Write(file string, data []byte) {
	l.Helper()
	must.Do(l, os.MkdirAll(filepath.Dir(file), 0o755))
	must.Do(l, os.WriteFile(file, data, 0o644))
}

// Read returns the content of a file.
func (l *Bed) Read(elem ...string) []byte {
	l.Helper()
	return must.Get(os.ReadFile(filepath.Join(elem...)))(l)
}

// Exists reports whether there is a file or folder of that name.
func (l *Bed) Exists(elem ...string) bool {
	_, err := os.Lstat(filepath.Join(elem...))
	return err == nil
}

// Table reads a CSV file.
func (l *Bed) Table(elem ...string) [][]string {
	l.Helper()
	rows, err := csv.NewReader(bytes.NewReader(l.Read(elem...))).ReadAll()
	if err != nil {
		l.Fatalf("%s: %v", filepath.Join(elem...), err)
	}
	return rows
}

// Object reads a JSON file.
func (l *Bed) Object(elem ...string) map[string]any {
	l.Helper()
	var v map[string]any
	if err := json.Unmarshal(l.Read(elem...), &v); err != nil {
		l.Fatalf("%s: %v", filepath.Join(elem...), err)
	}
	return v
}

// Timing returns a count of summary.json.
func (l *Bed) Timing(out, key string) int {
	l.Helper()
	v, ok := l.Object(out, "summary.json")["timing"].(map[string]any)[key].(float64)
	if !ok {
		l.Fatalf("summary.json has no timing.%s", key)
	}
	return int(v)
}

// Column returns one column of a table without its header.
func Column(t testing.TB, rows [][]string, name string) []string {
	t.Helper()
	i := slices.Index(rows[0], name)
	if i < 0 {
		t.Fatalf("no column %q in %q", name, rows[0])
	}
	var cells []string
	for _, row := range rows[1:] {
		cells = append(cells, row[i])
	}
	return cells
}
