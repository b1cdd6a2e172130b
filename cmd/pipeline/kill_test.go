//go:build unix

package main

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/embed/cache"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
)

const (
	killSeed    = 7
	killMoments = 5
	// killSide makes a photo large enough for a run to be caught at work.
	killSide = 320
	// patience bounds the wait for something that must happen; no result
	// depends on it.
	patience = 2 * time.Minute
)

// killPhotos is 1000 with PIPELINE_LONG set.
func killPhotos() int {
	if wanted.long {
		return 1000
	}
	return 75
}

// cachedRows counts the embeddings of all backbones in a cache, without those of
// the probe pictures.
func (l *testbed) cachedRows(folder string) int {
	l.Helper()
	probes, err := filepath.Glob("../../embed/probes/*.jpg")
	if err != nil || len(probes) == 0 {
		l.Fatal(err, probes)
	}
	stores, err := filepath.Glob(filepath.Join(folder, "embeddings", "*"))
	if err != nil {
		l.Fatal(err)
	}
	rows := 0
	for _, dir := range stores {
		store, err := cache.OpenStore(dir, nil)
		if err != nil {
			l.Fatal(err)
		}
		rows += store.Len()
		for _, file := range probes {
			if _, cached := store.Get(cache.HashOf(l.read(file))); cached {
				rows--
			}
		}
		if err := store.Close(); err != nil {
			l.Fatal(err)
		}
	}
	return rows
}

// signalWhen starts a command and signals it once a condition holds. A command
// that ends before gets no signal, as its exit code shows.
func (l *testbed) signalWhen(cmd *exec.Cmd, sig os.Signal, farEnough func() bool) (exitCode int) {
	l.Helper()
	if err := cmd.Start(); err != nil {
		l.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	deadline := time.After(patience)
	for sent := false; ; {
		select {
		case <-ended:
			return cmd.ProcessState.ExitCode()
		case <-deadline:
			_ = cmd.Process.Kill()
			l.Fatalf("%q did not end", cmd.Args)
		case <-time.After(time.Millisecond / 2):
			if !sent && farEnough() {
				sent = true
				_ = cmd.Process.Signal(sig) // it may have ended by now
			}
		}
	}
}

// wasKilled is the exit code that Go reports for a process ended by a signal.
const wasKilled = -1

// noLeftovers fails if a folder contains a temporary file.
func (l *testbed) noLeftovers(dirs ...string) {
	l.Helper()
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err == nil && atomicfile.IsTemp(e.Name()) {
				l.Errorf("%s was left over", path)
			}
			return err
		})
		if err != nil {
			l.Fatal(err)
		}
	}
}

// TestLabelIsKilled: a labelling run is killed at random moments; the same
// command ends with the bytes of an uninterrupted run and infers exactly what
// the cache did not have.
func TestLabelIsKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("labels hundreds of photos six times")
	}
	l := newTestbed(t)
	model, _ := l.trained()
	n := killPhotos()
	images := l.photos(l.path("photos"), killSide, n/5, "a", "b", "c", "d", "e")
	args := func(out string) []string {
		return []string{"label", model, "--images", images, "--out", out, "--format", "csv,jsonl", "--reject", "0.1"}
	}
	want := l.path("want")
	if r := l.runWith(l.path("other cache"), args(want)...); r.code != exitDone {
		t.Fatal(r.stderr)
	}
	rng := rand.New(rand.NewPCG(killSeed, 0))
	caught := 0
	for i := range killMoments {
		out, cache := l.path(fmt.Sprintf("out%d", i)), l.path(fmt.Sprintf("cache%d", i))
		moment := 1 + rng.IntN(n-1)
		farEnough := func() bool { return l.cachedRows(cache) >= moment }
		if i == killMoments-1 { // the last one between the result files
			farEnough = func() bool { return l.exists(out, "labels.csv") }
		}
		cmd, _ := l.process(cache, args(out)...)
		code := l.signalWhen(cmd, syscall.SIGKILL, farEnough)
		cached := l.cachedRows(cache)
		t.Logf("killed at %d of %d: %t, %d cached, labels.csv %t, summary.json %t", moment, n, code == wasKilled, cached, l.exists(out, "labels.csv"), l.exists(out, "summary.json"))
		if code == wasKilled {
			caught++
		}
		l.resume(cache, out, want, n, cached, args(out))
	}
	if caught == 0 {
		t.Error("no run was caught at work")
	}
}

// resume runs a killed command again and compares its results.
func (l *testbed) resume(cache, out, want string, n, cached int, args []string) {
	l.Helper()
	if r := l.runWith(cache, args...); r.code != exitDone {
		l.Fatal(r.stderr)
	}
	for _, name := range []string{"labels.csv", "labels.jsonl", "errors.csv"} {
		l.same("the killed run", l.read(want, name), filepath.Join(out, name))
	}
	if got, want := l.summaryWithoutTiming(out), l.summaryWithoutTiming(want); got != want {
		l.Errorf("summary %s\nof the uninterrupted run %s", got, want)
	}
	if inferred := l.timing(out, "inferred"); inferred != n-cached {
		l.Errorf("%d of %d were cached, %d were inferred", cached, n, inferred)
	}
	l.noLeftovers(out, cache)
}

// TestKilledAgainAndAgain: one run that is killed over and over still ends, and
// infers every photo about once: what was in flight is lost, nothing more.
func TestKilledAgainAndAgain(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	l := newTestbed(t)
	model, _ := l.trained()
	const n = 60
	images := l.photos(l.path("photos"), killSide, n/5, "a", "b", "c", "d", "e")
	out, cache := l.path("out"), l.path("one cache")
	args := []string{"label", model, "--images", images, "--out", out, "--threads", "2"}
	for before, kills := 0, 0; kills < killMoments; kills++ {
		cmd, _ := l.process(cache, args...)
		l.signalWhen(cmd, syscall.SIGKILL, func() bool { return l.cachedRows(cache) >= before+5 })
		after := l.cachedRows(cache)
		if after < before {
			t.Errorf("%d embeddings were cached, now %d", before, after)
		}
		before = after
	}
	cached := l.cachedRows(cache)
	if r := l.runWith(cache, args...); r.code != exitDone {
		t.Fatal(r.stderr)
	}
	if inferred := l.timing(out, "inferred"); inferred != n-cached {
		t.Errorf("%d of %d were cached, %d were inferred", cached, n, inferred)
	}
	if rows := l.table(out, "labels.csv"); len(rows) != n+1 {
		t.Errorf("%d rows", len(rows)-1)
	}
	l.noLeftovers(out, cache)
}

// TestLearnIsKilled: a session is killed while it embeds and while it saves;
// the same command ends with the bytes of an uninterrupted one. PPCA, because
// it has a side file as well.
func TestLearnIsKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts ten processes")
	}
	l := newTestbed(t)
	images := l.photos(l.path("base"), smallSide, 12, "kiwi", "lime", "plum")
	const n = 60
	more := l.photos(l.path("more"), killSide, n/3, "fig", "pear", "lime")
	rng := rand.New(rand.NewPCG(killSeed, 1))
	want := l.base("want", images)
	l.must("learn", want, "--images", more)
	caught := 0
	for i := range killMoments {
		model := l.base(fmt.Sprint("run", i), images)
		old := l.read(model)
		cache := l.path(fmt.Sprint("learn cache", i))
		cmd, _ := l.process(cache, "learn", model, "--images", more)
		code := l.signalWhen(cmd, syscall.SIGKILL, l.learnMoment(i, rng, cache, model))
		now := l.read(model)
		l.intact(model)
		t.Logf("killed: %t, %d of %d cached, new model in place: %t", code == wasKilled, l.cachedRows(cache), n, string(now) != string(old))
		if code == wasKilled {
			caught++
		}
		if r := l.runWith(cache, "learn", model, "--images", more); r.code != exitDone {
			t.Fatal(r.stderr)
		}
		l.same("the killed session", l.read(want), model)
		l.noLeftovers(filepath.Dir(model), cache)
		l.sameFiles(filepath.Dir(want), filepath.Dir(model))
	}
	if caught == 0 {
		t.Error("no session was caught at work")
	}
}

// base trains the model that the sessions start from, in a separate folder.
func (l *testbed) base(name, images string) string {
	l.Helper()
	model := l.path(name, "m.model")
	if err := os.Mkdir(l.path(name), 0o755); err != nil {
		l.Fatal(err)
	}
	l.must("train", "--images", images, "--out", model, "--classifier", "ppca", "--set", "classifier.ppca.q=3")
	return model
}

// learnMoment returns the condition to kill at: while embedding, while the
// temporary file exists, and when the old version has its second name.
func (l *testbed) learnMoment(i int, rng *rand.Rand, cache, model string) func() bool {
	moment := 1 + rng.IntN(59)
	switch i {
	case killMoments - 1:
		return func() bool { return l.exists(model + ".prev") }
	case killMoments - 2:
		return func() bool {
			entries, _ := os.ReadDir(filepath.Dir(model))
			for _, e := range entries {
				if atomicfile.IsTemp(e.Name()) {
					return true
				}
			}
			return false
		}
	}
	return func() bool { return l.cachedRows(cache) >= moment }
}

// intact fails unless the model can be read.
func (l *testbed) intact(model string) {
	l.Helper()
	if r := l.run("inspect", model); r.code != exitDone {
		l.Errorf("after the kill: %s", r.stderr)
	}
}

// sameFiles compares the names in two folders: no side file too many. The
// previous version may be missing where the killed run did not get to it.
func (l *testbed) sameFiles(want, got string) {
	l.Helper()
	names := func(dir string) string {
		entries, err := os.ReadDir(dir)
		if err != nil {
			l.Fatal(err)
		}
		var all []string
		for _, e := range entries {
			all = append(all, e.Name())
		}
		return strings.Join(all, " ")
	}
	if a, b := names(want), names(got); a != b {
		l.Errorf("files after a killed session: %s\nafter an uninterrupted one: %s", b, a)
	}
}

// TestInterrupt: Ctrl-C, SIGTERM and SIGHUP end with 130, print how to resume and
// leave no temporary file.
func TestInterrupt(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	l := newTestbed(t)
	model, _ := l.trained()
	n := killPhotos()
	images := l.photos(l.path("photos"), killSide, n/5, "a", "b", "c", "d", "e")
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	for _, sig := range signals {
		out, cache := l.path("out-"+sig.String()), l.path("cache-"+sig.String())
		args := []string{"label", model, "--images", images, "--out", out, "--threads", "1"} // slow enough to be caught
		cmd, stderr := l.process(cache, args...)
		code := l.signalWhen(cmd, sig, func() bool { return l.cachedRows(cache) >= 5 })
		if code != exitInterrupted || !strings.Contains(stderr.String(), "run the same command again") {
			t.Fatalf("%v: exit code %d, %q", sig, code, stderr)
		}
		if l.exists(out, "labels.csv") || l.exists(out, "summary.json") {
			t.Error("an interrupted run left results")
		}
		l.noLeftovers(out, cache)
		cached := l.cachedRows(cache)
		if r := l.runWith(cache, args...); r.code != exitDone {
			t.Fatal(r.stderr)
		}
		if inferred := l.timing(out, "inferred"); inferred != n-cached {
			t.Errorf("%d of %d were cached, %d were inferred", cached, n, inferred)
		}
	}
}

// TestNohup: a SIGHUP that the parent ignores is ignored.
func TestNohup(t *testing.T) {
	l := newTestbed(t)
	model, _ := l.trained()
	images := l.photos(l.path("photos"), killSide, 30, "a", "b", "c")
	out, cache := l.path("out"), l.path("other cache")
	cmd, stderr := l.process(cache, "label", model, "--images", images, "--out", out)
	cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh", "-c", `trap "" HUP; exec "$@"`, "sh"}, cmd.Args...)
	if code := l.signalWhen(cmd, syscall.SIGHUP, func() bool { return l.cachedRows(cache) >= 5 }); code != exitDone {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}

// TestTwoProcesses share a cache and give the same results; two that share an output
// folder do not mix: the second is refused or comes after the first.
func TestTwoProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	l := newTestbed(t)
	model, _ := l.trained()
	images := l.photos(l.path("photos"), killSide, 30, "a", "b")
	want := l.path("want")
	l.must("label", model, "--images", images, "--out", want)
	for name, outs := range map[string][2]string{"cache": {"one", "two"}, "folder": {"both", "both"}} {
		var running [2]*exec.Cmd
		for i, out := range outs {
			running[i], _ = l.process(l.path("shared by "+name), "label", model, "--images", images, "--out", l.path(out))
			if err := running[i].Start(); err != nil {
				t.Fatal(err)
			}
		}
		failed := 0
		for i, cmd := range running {
			if err := cmd.Wait(); err != nil {
				failed++
				continue
			}
			l.same("a second process", l.read(want, "labels.csv"), l.path(outs[i], "labels.csv"))
		}
		if failed > 0 && outs[0] != outs[1] || failed > 1 {
			t.Errorf("one %s: %d of 2 failed", name, failed)
		}
	}
}
