//go:build unix

package crashes

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

const (
	killSeed    = 7
	killMoments = 5
)

// killPhotos is 1000 with PIPELINE_LONG set.
func killPhotos() int {
	if commandtest.Wanted.Long {
		return 1000
	}
	return 75
}

// TestLabelIsKilled: a labelling run is killed at random moments; the same
// command ends with the bytes of an uninterrupted run and infers exactly what
// the cache did not have.
func TestLabelIsKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("labels hundreds of photos six times")
	}
	commandtest.TrainedNetwork(t)
	l := commandtest.New(t)
	model, _ := l.Trained()
	n := killPhotos()
	images := l.Photos(l.Path("photos"), commandtest.LargeSide, n/5, "a", "b", "c", "d", "e")
	args := func(out string) []string {
		return []string{"label", model, "--images", images, "--out", out, "--format", "csv,jsonl", "--reject", "0.1"}
	}
	want := l.Path("want")
	if r := l.RunWith(l.Path("other cache"), args(want)...); r.Code != command.ExitDone {
		t.Fatal(r.Stderr)
	}
	rng := rand.New(rand.NewPCG(killSeed, 0))
	caught := 0
	for i := range killMoments {
		out, cache := l.Path(fmt.Sprintf("out%d", i)), l.Path(fmt.Sprintf("cache%d", i))
		moment := 1 + rng.IntN(n-1)
		farEnough := func() bool { return l.CachedRows(cache) >= moment }
		if i == killMoments-1 { // the last one between the result files
			farEnough = func() bool { return l.Exists(out, "labels.csv") }
		}
		cmd, _ := l.Process(cache, args(out)...)
		code := l.SignalWhen(cmd, syscall.SIGKILL, farEnough)
		cached := l.CachedRows(cache)
		t.Logf("killed at %d of %d: %t, %d cached, labels.csv %t, summary.json %t", moment, n,
			code == commandtest.WasKilled, cached, l.Exists(out, "labels.csv"), l.Exists(out, "summary.json"))
		if code == commandtest.WasKilled {
			caught++
		}
		resume(l, cache, out, want, n, cached, args(out))
	}
	if caught == 0 {
		t.Error("no run was caught at work")
	}
}

// resume runs a killed command again and compares its results.
func resume(l *commandtest.Bed, cache, out, want string, n, cached int, args []string) {
	l.Helper()
	if r := l.RunWith(cache, args...); r.Code != command.ExitDone {
		l.Fatal(r.Stderr)
	}
	for _, name := range []string{"labels.csv", "labels.jsonl", "errors.csv"} {
		l.Same("the killed run", l.Read(want, name), filepath.Join(out, name))
	}
	if got, want := l.SummaryWithoutTiming(out), l.SummaryWithoutTiming(want); got != want {
		l.Errorf("summary %s\nof the uninterrupted run %s", got, want)
	}
	if inferred := l.Timing(out, "inferred"); inferred != n-cached {
		l.Errorf("%d of %d were cached, %d were inferred", cached, n, inferred)
	}
	l.NoLeftovers(out, cache)
}

// TestKilledAgainAndAgain: one run that is killed over and over still ends, and
// infers every photo about once: what was in flight is lost, nothing more.
func TestKilledAgainAndAgain(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	commandtest.TrainedNetwork(t)
	l := commandtest.New(t)
	model, _ := l.Trained()
	const n = 60
	images := l.Photos(l.Path("photos"), commandtest.LargeSide, n/5, "a", "b", "c", "d", "e")
	out, cache := l.Path("out"), l.Path("one cache")
	args := []string{"label", model, "--images", images, "--out", out, "--threads", "2"}
	for before, kills := 0, 0; kills < killMoments; kills++ {
		cmd, _ := l.Process(cache, args...)
		l.SignalWhen(cmd, syscall.SIGKILL, func() bool { return l.CachedRows(cache) >= before+5 })
		after := l.CachedRows(cache)
		if after < before {
			t.Errorf("%d embeddings were cached, now %d", before, after)
		}
		before = after
	}
	cached := l.CachedRows(cache)
	if r := l.RunWith(cache, args...); r.Code != command.ExitDone {
		t.Fatal(r.Stderr)
	}
	if inferred := l.Timing(out, "inferred"); inferred != n-cached {
		t.Errorf("%d of %d were cached, %d were inferred", cached, n, inferred)
	}
	if rows := l.Table(out, "labels.csv"); len(rows) != n+1 {
		t.Errorf("%d rows", len(rows)-1)
	}
	l.NoLeftovers(out, cache)
}

// TestLearnIsKilled: a session is killed while it embeds and while it saves;
// the same command ends with the bytes of an uninterrupted one. PPCA, because
// it has a side file as well.
func TestLearnIsKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts ten processes")
	}
	commandtest.TrainedNetwork(t)
	l := commandtest.New(t)
	images := l.Photos(l.Path("base"), commandtest.SmallSide, 12, "kiwi", "lime", "plum")
	const n = 60
	more := l.Photos(l.Path("more"), commandtest.LargeSide, n/3, "fig", "pear", "lime")
	rng := rand.New(rand.NewPCG(killSeed, 1))
	want := base(l, "want", images)
	l.Must("learn", want, "--images", more)
	caught := 0
	for i := range killMoments {
		model := base(l, fmt.Sprint("run", i), images)
		old := l.Read(model)
		cache := l.Path(fmt.Sprint("learn cache", i))
		cmd, _ := l.Process(cache, "learn", model, "--images", more)
		code := l.SignalWhen(cmd, syscall.SIGKILL, learnMoment(l, i, rng, cache, model))
		now := l.Read(model)
		intact(l, model)
		t.Logf("killed: %t, %d of %d cached, new model in place: %t", code == commandtest.WasKilled,
			l.CachedRows(cache), n, string(now) != string(old))
		if code == commandtest.WasKilled {
			caught++
		}
		if r := l.RunWith(cache, "learn", model, "--images", more); r.Code != command.ExitDone {
			t.Fatal(r.Stderr)
		}
		l.Same("the killed session", l.Read(want), model)
		l.NoLeftovers(filepath.Dir(model), cache)
		sameFiles(l, filepath.Dir(want), filepath.Dir(model))
	}
	if caught == 0 {
		t.Error("no session was caught at work")
	}
}

// base trains the model that the sessions start from, in a separate folder.
func base(l *commandtest.Bed, name, images string) string {
	l.Helper()
	model := l.Path(name, "m.model")
	must.Do(l, os.Mkdir(l.Path(name), 0o755))
	l.Must("train", "--images", images, "--out", model, "--classifier", "ppca", "--set", "classifier.ppca.q=3")
	return model
}

// learnMoment returns the condition to kill at: while embedding, while the
// temporary file exists, and when the old version has its second name.
func learnMoment(l *commandtest.Bed, i int, rng *rand.Rand, cache, model string) func() bool {
	moment := 1 + rng.IntN(59)
	switch i {
	case killMoments - 1:
		return func() bool { return l.Exists(model + ".prev") }
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
	return func() bool { return l.CachedRows(cache) >= moment }
}

// intact fails unless the model can be read.
func intact(l *commandtest.Bed, model string) {
	l.Helper()
	if r := l.Run("inspect", model); r.Code != command.ExitDone {
		l.Errorf("after the kill: %s", r.Stderr)
	}
}

// sameFiles compares the names in two folders: no side file too many. The
// previous version may be missing where the killed run did not get to it.
func sameFiles(l *commandtest.Bed, want, got string) {
	l.Helper()
	names := func(dir string) string {
		entries := must.Get(os.ReadDir(dir))(l)
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
	commandtest.TrainedNetwork(t)
	l := commandtest.New(t)
	model, _ := l.Trained()
	n := killPhotos()
	images := l.Photos(l.Path("photos"), commandtest.LargeSide, n/5, "a", "b", "c", "d", "e")
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	for _, sig := range signals {
		out, cache := l.Path("out-"+sig.String()), l.Path("cache-"+sig.String())
		args := []string{"label", model, "--images", images, "--out", out, "--threads", "1"} // slow enough to be caught
		cmd, stderr := l.Process(cache, args...)
		code := l.SignalWhen(cmd, sig, func() bool { return l.CachedRows(cache) >= 5 })
		if code != command.ExitInterrupted || !strings.Contains(stderr.String(), "run the same command again") {
			t.Fatalf("%v: exit code %d, %q", sig, code, stderr)
		}
		if l.Exists(out, "labels.csv") || l.Exists(out, "summary.json") {
			t.Error("an interrupted run left results")
		}
		l.NoLeftovers(cache)
		if l.Exists(out) { // not before all photos are seen
			l.NoLeftovers(out)
		}
		cached := l.CachedRows(cache)
		if r := l.RunWith(cache, args...); r.Code != command.ExitDone {
			t.Fatal(r.Stderr)
		}
		if inferred := l.Timing(out, "inferred"); inferred != n-cached {
			t.Errorf("%d of %d were cached, %d were inferred", cached, n, inferred)
		}
	}
}

// TestNohup: a SIGHUP that the parent ignores is ignored.
func TestNohup(t *testing.T) {
	commandtest.TrainedNetwork(t)
	l := commandtest.New(t)
	model, _ := l.Trained()
	images := l.Photos(l.Path("photos"), commandtest.LargeSide, 15, "a", "b", "c")
	out, cache := l.Path("out"), l.Path("other cache")
	cmd, stderr := l.Process(cache, "label", model, "--images", images, "--out", out)
	cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh", "-c", `trap "" HUP; exec "$@"`, "sh"}, cmd.Args...)
	if code := l.SignalWhen(cmd, syscall.SIGHUP,
		func() bool { return l.CachedRows(cache) >= 5 }); code != command.ExitDone {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}

// TestTwoProcesses share a cache and give the same results; two that share an output
// folder do not mix: the second is refused or comes after the first.
func TestTwoProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	commandtest.TrainedNetwork(t)
	l := commandtest.New(t)
	model, _ := l.Trained()
	images := l.Photos(l.Path("photos"), commandtest.LargeSide, 20, "a", "b")
	want := l.Path("want")
	l.Must("label", model, "--images", images, "--out", want)
	for name, outs := range map[string][2]string{"cache": {"one", "two"}, "folder": {"both", "both"}} {
		var running [2]*exec.Cmd
		for i, out := range outs {
			running[i],
				_ = l.Process(l.Path("shared by "+name), "label", model, "--images", images, "--out", l.Path(out))
			must.Do(t, running[i].Start())
		}
		failed := 0
		for i, cmd := range running {
			if err := cmd.Wait(); err != nil {
				failed++
				continue
			}
			l.Same("a second process", l.Read(want, "labels.csv"), l.Path(outs[i], "labels.csv"))
		}
		if failed > 0 && outs[0] != outs[1] || failed > 1 {
			t.Errorf("one %s: %d of 2 failed", name, failed)
		}
	}
}
