package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/ort"
	"github.com/seed-90d10d51/pipeline/internal/ort/orttest"
)

var (
	update = flag.Bool("update", false, "write docs/cli instead of comparing with it")
	manual = flag.String("manual", "", "write manual pages into this folder")
	kept   = flag.String("keep", "", "write the files of this `version` into testdata, for later versions to read")
)

const (
	// actAsPipeline makes the test binary the real command. Its name does not
	// have the prefix of settings, so the command ignores it.
	actAsPipeline = "TEST_BINARY_IS_PIPELINE"
	// longForm, allStories and exportsDir are for the tests, not settings: the command
	// would refuse them, so TestMain removes them.
	longForm   = "PIPELINE_LONG"
	allStories = "PIPELINE_STORIES"
	exportsDir = "PIPELINE_EXPORTS"
)

// wanted is what TestMain found in the environment.
var wanted struct {
	long    bool
	stories int // classes
	exports string
}

func TestMain(m *testing.M) {
	if os.Getenv(actAsPipeline) != "" {
		main()
		return
	}
	wanted.long = os.Getenv(longForm) != ""
	wanted.stories, _ = strconv.Atoi(os.Getenv(allStories))
	wanted.exports = os.Getenv(exportsDir)
	forgetSettings()
	os.Exit(m.Run())
}

// forgetSettings removes the user's PIPELINE_… settings, which would change the
// results of tests.
func forgetSettings() {
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, "PIPELINE_") && name != "PIPELINE_SHARED" {
			_ = os.Unsetenv(name)
		}
	}
}

// A testbed is a folder in which commands are run, with its own cache.
type testbed struct {
	testing.TB
	dir string
	env []string // for commands in another process
}

// newTestbed keeps every command away from the user's cache. It skips the test on a
// machine without ONNX Runtime.
func newTestbed(t *testing.T) *testbed {
	t.Helper()
	runtime := orttest.Open(t)
	dir := t.TempDir()
	settings := map[string]string{
		ort.EnvLibrary:   runtime.Library().Path, // otherwise a new home would hide it
		"XDG_CACHE_HOME": filepath.Join(dir, "user-cache"),
	}
	l := &testbed{TB: t, dir: dir, env: append(os.Environ(), actAsPipeline+"=1")}
	for name, value := range settings {
		t.Setenv(name, value)
		l.env = append(l.env, name+"="+value)
	}
	return l
}

// with returns the testbed for a subtest.
func (l *testbed) with(t *testing.T) *testbed {
	sub := *l
	sub.TB = t
	return &sub
}

func (l *testbed) path(elem ...string) string {
	return filepath.Join(append([]string{l.dir}, elem...)...)
}

// A result is the output and exit code of a command.
type result struct {
	code           int
	stdout, stderr string
}

// run executes a command in this process, with the testbed's cache.
func (l *testbed) run(args ...string) result {
	l.Helper()
	return l.runWith(l.path("cache"), args...)
}

func (l *testbed) runWith(cache string, args ...string) result {
	l.Helper()
	var stdout, stderr bytes.Buffer
	code := run(context.Background(), append(args, "--cache", cache), &stdout, &stderr)
	return result{code, stdout.String(), stderr.String()}
}

// must runs a command that has to succeed.
func (l *testbed) must(args ...string) result {
	l.Helper()
	return l.expect(exitDone, args...)
}

func (l *testbed) expect(code int, args ...string) result {
	l.Helper()
	r := l.run(args...)
	if r.code != code {
		l.Fatalf("pipeline %q: exit code %d, want %d\n%s%s", args, r.code, code, r.stdout, r.stderr)
	}
	return r
}

// refused runs a command that must fail with a message that contains all words.
func (l *testbed) refused(code int, words []string, args ...string) {
	l.Helper()
	r := l.expect(code, args...)
	for _, word := range words {
		if !strings.Contains(r.stderr, word) {
			l.Errorf("pipeline %q does not say %q:\n%s", args, word, r.stderr)
		}
	}
}

// process returns a command that runs as another process when started.
func (l *testbed) process(cache string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.Command(os.Args[0], append(args, "--cache", cache)...)
	var stderr bytes.Buffer
	cmd.Env, cmd.Stderr = l.env, &stderr
	return cmd, &stderr
}

// photos writes n different pictures of each class into dir/<class>/.
func (l *testbed) photos(dir string, side, n int, classes ...string) string {
	l.Helper()
	for _, class := range classes {
		for i := range n {
			l.write(filepath.Join(dir, class, fmt.Sprintf("%03d.jpg", i)), photo(class, i, side))
		}
	}
	return dir
}

func (l *testbed) write(file string, data []byte) {
	l.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		l.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		l.Fatal(err)
	}
}

func (l *testbed) read(elem ...string) []byte {
	l.Helper()
	data, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		l.Fatal(err)
	}
	return data
}

func (l *testbed) exists(elem ...string) bool {
	_, err := os.Lstat(filepath.Join(elem...))
	return err == nil
}

// table reads a CSV file.
func (l *testbed) table(elem ...string) [][]string {
	l.Helper()
	rows, err := csv.NewReader(bytes.NewReader(l.read(elem...))).ReadAll()
	if err != nil {
		l.Fatalf("%s: %v", filepath.Join(elem...), err)
	}
	return rows
}

// object reads a JSON file.
func (l *testbed) object(elem ...string) map[string]any {
	l.Helper()
	var v map[string]any
	if err := json.Unmarshal(l.read(elem...), &v); err != nil {
		l.Fatalf("%s: %v", filepath.Join(elem...), err)
	}
	return v
}

// timing returns a count of summary.json.
func (l *testbed) timing(out, key string) int {
	l.Helper()
	v, ok := l.object(out, "summary.json")["timing"].(map[string]any)[key].(float64)
	if !ok {
		l.Fatalf("summary.json has no timing.%s", key)
	}
	return int(v)
}

// photo draws a picture: a wave whose colour and direction depend on the class,
// with noise. The same arguments give the same bytes.
func photo(class string, number, side int) []byte {
	rng := rand.New(rand.NewPCG(hashText(class), uint64(number)))
	look := rand.New(rand.NewPCG(hashText(class), 1<<32))
	base := [3]float64{look.Float64(), look.Float64(), look.Float64()}
	fx, fy := look.Float64()*0.6, look.Float64()*0.6
	img := image.NewRGBA(image.Rect(0, 0, side, side))
	phase := rng.Float64() * 6
	for y := range side {
		for x := range side {
			wave := 60 * math.Sin(fx*float64(x)+fy*float64(y)+phase)
			grain := rng.Float64() * 20
			img.SetRGBA(x, y, color.RGBA{level(base[0], wave+grain), level(base[1], wave-grain), level(base[2], grain-wave), 255})
		}
	}
	var buf bytes.Buffer
	if err := jpeg.Encode(&buf, img, nil); err != nil {
		panic(err) // into memory it cannot fail
	}
	return buf.Bytes()
}

func level(base, change float64) uint8 {
	return uint8(min(max(80+base*120+change, 0), 255))
}

func hashText(s string) uint64 {
	var h uint64 = 14695981039346656037
	for _, b := range []byte(s) {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return h
}

// column returns one column of a table without its header.
func column(t testing.TB, rows [][]string, name string) []string {
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
