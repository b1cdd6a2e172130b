package model

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// The child of TestKilled: it learns every session that is not learned yet,
// saving after each, and reports its progress on stdout.
const childVariable = "PIPELINE_TEST_LEARN"

const killSessions = 30

func killBatch(session int) Batch {
	return batch(session, 3, 64, "ant", fmt.Sprintf("new-%02d", session))
}

func TestMain(m *testing.M) {
	if path := os.Getenv(childVariable); path != "" {
		if err := learnAll(path, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func learnAll(path string, progress io.Writer) error {
	m, err := load(path, fakes())
	if err != nil {
		return err
	}
	for s := 1; s <= killSessions; s++ {
		o, err := m.Learn(context.Background(), killBatch(s))
		if err != nil {
			return err
		}
		if !o.Changed() {
			continue
		}
		fmt.Fprintln(progress, "learned", s)
		if err := m.Save(path); err != nil {
			return err
		}
		fmt.Fprintln(progress, "saved", s)
	}
	return m.Save(path) // clears the leftovers of a killed run
}

// base writes the initial model.
func killBase(t *testing.T, path string) {
	t.Helper()
	m, _ := must.Get2(train(context.Background(), newFake, batch(0, 6, 64, "ant", "bee", "cat", "dog")))(t)
	save(t, m, path)
}

// uninterrupted returns every version that a run without a kill goes through.
func uninterrupted(t *testing.T) [][]byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.model")
	killBase(t, path)
	versions := [][]byte{contents(t, path)}
	m := loaded(t, path)
	for s := 1; s <= killSessions; s++ {
		learn(t, m, killBatch(s))
		save(t, m, path)
		versions = append(versions, contents(t, path))
	}
	return versions
}

// TestKilled kills a real process 20 times with SIGKILL at seeded moments while
// it learns and saves. The moment is a number of progress lines read and then a
// number of hashes computed, so it needs no clock.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("it is about processes")
	}
	versions := uninterrupted(t)
	path := filepath.Join(t.TempDir(), "m.model")
	killBase(t, path)
	rng := rand.New(rand.NewPCG(20, 1))
	at, kills := 0, 0
	for kills < 20 {
		if killChild(t, path, 1+rng.IntN(5), rng.IntN(12000)) {
			kills++
		}
		now := slices.IndexFunc(versions, func(v []byte) bool { return bytes.Equal(v, contents(t, path)) })
		if now < at {
			t.Fatalf("kill %d: the file is version %d after version %d", kills, now, at)
		}
		loaded(t, path)
		t.Logf("kill %d: version %d, %v", kills, now, names(t, filepath.Dir(path)))
		if at = now; at > killSessions-4 && kills < 20 {
			at = 0 // start again, from the leftovers of a killed run
			for _, name := range []string{path, path + previousSuffix} {
				must.Do(t, os.Remove(name))
			}
			killBase(t, path)
		}
	}
	if out, err := child(path).CombinedOutput(); err != nil {
		t.Fatalf("the last run: %v\n%s", err, out)
	}
	checkEnd(t, path, versions)
}

func checkEnd(t *testing.T, path string, versions [][]byte) {
	t.Helper()
	if !bytes.Equal(contents(t, path), versions[killSessions]) {
		t.Error("the end is not that of an uninterrupted run")
	}
	if !bytes.Equal(contents(t, path+previousSuffix), versions[killSessions-1]) {
		t.Error("the previous version is not that of an uninterrupted run")
	}
	got := names(t, filepath.Dir(path))
	if len(got) != 4 || !strings.HasPrefix(got[2], "m.model.stats-") || !strings.HasPrefix(got[3], "m.model.stats-") {
		t.Errorf("files at the end: %v", got)
	}
	m := loaded(t, path)
	if o := learn(t, m, batch(99, 1, 64, "ant")); o.Added != 1 {
		t.Errorf("the statistics do not work: %+v", o)
	}
}

func child(path string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+path)
	return cmd
}

// killChild reports whether the child was killed before it was done.
func killChild(t *testing.T, path string, lines, hashes int) bool {
	t.Helper()
	cmd := child(path)
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	progress := bufio.NewScanner(out)
	for range lines {
		progress.Scan()
	}
	var sum [32]byte
	for range hashes {
		sum = sha256.Sum256(sum[:])
	}
	_ = cmd.Process.Kill()
	return cmd.Wait() != nil
}

// TestInterruptedAfterEachStep stops a save after each of its steps, and then
// runs everything again: the folder must end up as if nothing had happened.
func TestInterruptedAfterEachStep(t *testing.T) {
	begin := func() (string, *Model) {
		path := filepath.Join(t.TempDir(), "m.model")
		killBase(t, path)
		m := loaded(t, path)
		learn(t, m, killBatch(1))
		save(t, m, path)
		learn(t, m, killBatch(2))
		return path, m
	}
	again := func(path string) {
		m := loaded(t, path)
		learn(t, m, killBatch(2))
		save(t, m, path)
	}
	path, m := begin()
	save(t, m, path)
	want := folder(t, path)
	for stop := range 4 {
		path, m := begin()
		before := contents(t, path)
		must.Do(t, saveUntil(m, path, stop))
		if now := contents(t, path); stop < 3 && !bytes.Equal(now, before) {
			t.Errorf("step %d changed the model", stop)
		}
		again(path)
		if got := folder(t, path); !maps.Equal(got, want) {
			t.Errorf("after step %d: %v, want %v", stop, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
		}
	}
}

// saveUntil performs the first steps of a save: 0 the side file, 1 the new
// version under its temporary name, 2 the link to the old one, 3 the rename.
func saveUntil(m *Model, path string, stop int) error {
	pointer, err := m.saveStatistics(path, path)
	if err != nil || stop == 0 {
		return err
	}
	c, err := m.encode(pointer)
	if err != nil {
		return err
	}
	stopped := errors.New("stopped")
	err = c.Write(path, func(string) error {
		if stop == 1 {
			return stopped
		}
		if err := keepPrevious(path); err != nil {
			return err
		}
		if stop == 2 {
			return stopped
		}
		return nil
	})
	if errors.Is(err, stopped) {
		return nil
	}
	return err
}

// folder returns the content of every file in the folder of path.
func folder(t *testing.T, path string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, name := range names(t, filepath.Dir(path)) {
		files[name] = string(contents(t, filepath.Join(filepath.Dir(path), name)))
	}
	return files
}
