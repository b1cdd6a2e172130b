//go:build unix

package embedding

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding/cache"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// childEnv turns the test binary into an embedding process: its value is the
// folder with photos and cache.
const childEnv = "PIPELINE_TEST_EMBED_CHILD"

const crashPhotos = 120

func TestMain(m *testing.M) {
	if home := os.Getenv(childEnv); home != "" {
		if err := child(home); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func crashSamples() []dataset.Sample {
	var samples []dataset.Sample
	for i := range crashPhotos {
		samples = append(samples, dataset.Sample{Path: fmt.Sprintf("%04d.jpg", i)})
	}
	return samples
}

// child embeds all photos and reports each that it computes by one long line:
// the pipe soon blocks it until the parent reads, so the parent decides when it
// dies without a clock.
func child(home string) error {
	c, err := cache.Open(filepath.Join(home, "cache"), testNamespace(), nil)
	if err != nil {
		return err
	}
	b := newBench(c, 2)
	b.Stream.Workers = 2
	b.Stream.Open = Opened(tellingExtractor{b.extractor, c})
	if _, err := b.Run(context.Background(), filepath.Join(home, "photos"), crashSamples(),
		func(Item) error { return nil }); err != nil {
		return err
	}
	return c.Close()
}

// A tellingExtractor has what was computed before written first, so that how much is there
// when the process dies depends on no clock, and that it dies while files are made and merged.
type tellingExtractor struct {
	*fakeExtractor
	cache *cache.Cache
}

func (e tellingExtractor) Extract(dst blas32.General, pixels []float32) error {
	if err := errors.Join(e.cache.Flush(), e.fakeExtractor.Extract(dst, pixels)); err != nil {
		return err
	}
	for i := range dst.Rows {
		if _, err := fmt.Printf("%v%s\n", dst.Data[i*dst.Stride:(i+1)*dst.Stride],
			strings.Repeat(" ", 8<<10)); err != nil {
			return err
		}
	}
	return nil
}

func startChild(t *testing.T, home string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+home)
	cmd.Stderr = os.Stderr
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	return cmd, bufio.NewReader(out)
}

// readLines reads up to n reports and returns their vectors as text.
func readLines(t *testing.T, out *bufio.Reader, n int) []string {
	t.Helper()
	var lines []string
	for len(lines) < n {
		line, err := out.ReadString('\n')
		if err == io.EOF {
			return lines
		}
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}

func crashHome(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	for i, s := range crashSamples() {
		writePhoto(t, filepath.Join(home, "photos", s.Path), contentOf(i))
	}
	return home
}

// cachedNow returns the set of embeddings in the cache, as text.
func cachedNow(t *testing.T, home string) map[string]bool {
	t.Helper()
	var text bytes.Buffer
	c, err := cache.Open(filepath.Join(home, "cache"), testNamespace(), slog.New(slog.NewTextHandler(&text, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	set := map[string]bool{}
	for i := range crashPhotos {
		if v, ok := c.Get(cache.HashOf([]byte(contentOf(i)))); ok {
			set[fmt.Sprint(v)] = true
		}
	}
	if text.Len() > 0 {
		t.Errorf("after a kill: %s", &text)
	}
	return set
}

func TestKillAndResume(t *testing.T) {
	home := crashHome(t)
	random := rand.New(rand.NewPCG(1, 2))
	computed := 0
	for range 6 {
		before := cachedNow(t, home)
		cmd, out := startChild(t, home)
		lines := readLines(t, out, 1+random.IntN(25))
		must.Do(t, cmd.Process.Signal(syscall.SIGKILL))
		rest, _ := io.ReadAll(out)
		_ = cmd.Wait() // killed
		lines = append(lines, strings.Split(string(rest), "\n")...)
		for _, line := range lines {
			if before[strings.TrimSpace(line)] {
				t.Fatalf("computed again although cached: %s", line)
			}
		}
		if after := cachedNow(t, home); len(after) < len(before) {
			t.Fatalf("%d rows before the kill, %d after", len(before), len(after))
		} else {
			computed = len(after)
		}
	}
	if computed == 0 || computed == crashPhotos {
		t.Fatalf("%d of %d cached: the kills tested nothing", computed, crashPhotos)
	}
	b := newBench(mustCache(t, filepath.Join(home, "cache")), 2)
	items, counts := b.run(t, filepath.Join(home, "photos"), crashSamples())
	wantItems(t, items, crashSamples())
	if counts.Inferred != crashPhotos-computed || counts.Cached != computed {
		t.Fatalf("%+v with %d cached before", counts, computed)
	}
}

func TestTwoProcessesOneCache(t *testing.T) {
	home := crashHome(t)
	a, outA := startChild(t, home)
	b, outB := startChild(t, home)
	readLines(t, outA, 5) // both are running
	readLines(t, outB, 5)
	var drained sync.WaitGroup
	drained.Go(func() { io.Copy(io.Discard, outA) })
	drained.Go(func() { io.Copy(io.Discard, outB) })
	drained.Wait()
	if errA, errB := a.Wait(), b.Wait(); errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	third := newBench(mustCache(t, filepath.Join(home, "cache")), 2)
	items, counts := third.run(t, filepath.Join(home, "photos"), crashSamples())
	wantItems(t, items, crashSamples())
	if want := (Counts{Total: crashPhotos, Cached: crashPhotos}); counts != want {
		t.Fatalf("%+v, want %+v", counts, want)
	}
}
