//go:build linux

package photos

import (
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/imagebomb"
	"github.com/seed-90d10d51/pipeline/internal/testing/shared"
)

// TestImageBombs: files that take as much memory as all may take together are
// labelled, larger ones are errors that name the setting, and both are the same
// with any number of threads. The whole process stays within the budget.
func TestImageBombs(t *testing.T) { labelBombs(t) }

// TestImageBombsWithMobileNet is TestImageBombs with a larger backbone loaded.
func TestImageBombsWithMobileNet(t *testing.T) {
	labelBombs(t, "--backbone", shared.Path(t, "models", "mobilenetv2_features.onnx"))
}

func labelBombs(t *testing.T, backbone ...string) {
	l := commandtest.New(t)
	model, _ := l.Trained(append(backbone, "--set", "preprocess.jpeg=go")...)
	const budget = 24 // MiB
	images := l.Photos(l.Path("images"), commandtest.SmallSide, 4, "kiwi")
	alone := peak(l, images, l.Path("alone"), command.ExitDone, model, 8, budget)

	for i := range 4 {
		l.Write(l.Path("images", fmt.Sprintf("progressive %d.jpg", i)), imagebomb.Progressive(1100+8*i, 1100, 3, 64))
		l.Write(l.Path("images", fmt.Sprintf("interlaced %d.png", i)),
			imagebomb.PNG(850, 850+i, imagebomb.RGBA, 16, true))
	}
	l.Write(l.Path("images", "wide.png"), imagebomb.PNG(20_000, 50, imagebomb.RGB, 8, false))
	l.Write(l.Path("images", "tall.png"), imagebomb.PNG(50, 100_000, imagebomb.RGB, 8, false))
	l.Write(l.Path("images", "restarts.jpg"), imagebomb.Restarts(2000, 2000))
	l.Write(l.Path("images", "strip.tif"), imagebomb.TIFF(900, 900, 900, 20*900*900))
	bad := map[string][]byte{
		"channels.jpg":   imagebomb.Progressive(1800, 1800, 4, 64),
		"interlaced.png": imagebomb.PNG(1400, 1400, imagebomb.RGBA, 16, true),
		"too wide.png":   imagebomb.PNG(300_000, 25, imagebomb.RGB, 8, false),
		"too tall.png":   imagebomb.PNG(25, 300_000, imagebomb.RGB, 8, false),
	}
	for name, file := range bad {
		l.Write(l.Path("images", name), file)
	}
	var labels, problems []byte
	for _, threads := range []int{1, 2, 8} {
		out := l.Path("out " + strconv.Itoa(threads))
		peak := peak(l, images, out, command.ExitPartial, model, threads, budget)
		t.Logf("%d threads: %d MiB, without the bombs %d MiB", threads, peak, alone)
		if most := min(alone+budget*5/4+32, 1024); peak > most && !raceDetector() {
			t.Errorf("%d threads: peak memory %d MiB, want at most %d", threads, peak, most)
		}
		if labels == nil {
			labels, problems = l.Read(out, "labels.csv"), l.Read(out, "errors.csv")
		}
		l.Same("labels", labels, out+"/labels.csv")
		l.Same("errors", problems, out+"/errors.csv")
	}
	var failed []string
	for _, row := range l.Table(l.Path("out 1", "errors.csv"))[1:] {
		failed = append(failed, row[0])
		if bad[row[0]] == nil || !strings.Contains(row[1], "preprocess.memory is 24MiB") {
			t.Errorf("%s: %s", row[0], row[1])
		}
	}
	if len(failed) != len(bad) {
		t.Errorf("%v failed, want %d", slices.Sorted(slices.Values(failed)), len(bad))
	}
}

// peak labels images in another process and returns its peak memory in MiB.
func peak(l *commandtest.Bed, images, out string, want int, model string, threads, budget int) int {
	l.Helper()
	most, _ := peakOf(l, out+".cache", want, "label", model, "--images", images, "--out", out,
		"--threads", strconv.Itoa(threads), "--set", fmt.Sprintf("preprocess.memory=%dMiB", budget))
	return most
}

// peakOf runs a command in another process and returns its peak memory in MiB, and
// what it says. It asks while the process runs: what wait4 returns at the end counts the memory
// of the parent as well, in which the child begins.
func peakOf(l *commandtest.Bed, cache string, want int, args ...string) (most int, said string) {
	l.Helper()
	cmd, stderr := l.Process(cache, args...)
	code := l.SignalWhen(cmd, syscall.SIGCONT, func() bool { // it is never sent
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid)) // empty when it has ended
		_, after, _ := strings.Cut(string(status), "VmHWM:")
		var kib int
		_, _ = fmt.Sscan(after, &kib)
		most = max(most, kib>>10)
		return false
	})
	if code != want {
		l.Fatalf("pipeline %q: exit code %d\n%s", args, code, stderr)
	}
	return most, stderr.String()
}

// raceDetector reports whether the tests run with it: it takes memory too.
func raceDetector() bool {
	info, _ := debug.ReadBuildInfo()
	return slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}
