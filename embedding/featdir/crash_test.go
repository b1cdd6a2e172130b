//go:build unix

package featdir

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// childEnv lets the test binary replace a feature folder again and again; its
// value is the folder.
const childEnv = "PIPELINE_TEST_FEATURES_CHILD"

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		fmt.Fprintln(os.Stderr, replaceForever(path))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// replaceForever writes version after version: v mod 7 + 1 rows of value v.
func replaceForever(path string) error {
	for v := 1; ; v++ {
		w, err := NewWriter(path, embedding.Provenance{Dim: 3})
		if err != nil {
			return err
		}
		for range v%7 + 1 {
			x := float32(v)
			if err := w.Write(dataset.Sample{Path: fmt.Sprint(v)}, []float32{x, x, x}); err != nil {
				return err
			}
		}
		if err := w.Close(); err != nil {
			return err
		}
		if _, err := fmt.Println(v, strings.Repeat(".", 30<<10)); err != nil { // the pipe holds two of these
			return err
		}
	}
}

func TestWriterKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "feat")
	random := rand.New(rand.NewPCG(3, 4))
	for range 6 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childEnv+"="+path)
		cmd.Stderr = os.Stderr
		out := must.Get(cmd.StdoutPipe())(t)
		must.Do(t, cmd.Start())
		lines := bufio.NewReader(out)
		for range 1 + random.IntN(3) {
			must.Get(lines.ReadString('\n'))(t)
		}
		must.Do(t, cmd.Process.Kill())
		_ = cmd.Wait() // killed
		wantWholeVersion(t, path)
	}
	writeFeatures(t, path, []dataset.Sample{{Path: "last"}}, embedding.Provenance{Dim: 1})
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("leftovers of killed runs stay: %v", left)
	}
}

func wantWholeVersion(t *testing.T, path string) {
	t.Helper()
	f := must.Get(Read(path))(t)
	v := int(f.X.Data[0])
	if f.X.Rows != v%7+1 || f.Samples[0].Path != fmt.Sprint(v) {
		t.Fatalf("version %d with %d rows, %+v", v, f.X.Rows, f.Samples)
	}
	for _, x := range f.X.Data {
		if x != float32(v) {
			t.Fatalf("mixed versions: %v", f.X.Data)
		}
	}
}
