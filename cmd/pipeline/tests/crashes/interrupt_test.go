//go:build linux

package crashes

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// TestSecondSignal ends a command that does not heed the first one, here because
// nobody reads its output.
func TestSecondSignal(t *testing.T) {
	l := commandtest.New(t)
	model, _ := l.Trained()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		reader, full := fullPipe(t)
		cmd, stderr := l.Process(l.Path("cache"), "inspect", model)
		cmd.Stdout = full
		must.Do(t, cmd.Start())
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		deadline := time.After(commandtest.Patience)
		for running := true; running; {
			select {
			case <-ended:
				running = false
			case <-deadline:
				_ = cmd.Process.Kill()
				t.Fatalf("%v again and again does not end it", sig)
			case <-time.After(10 * time.Millisecond):
				if writes(t, cmd.Process.Pid) {
					_ = cmd.Process.Signal(sig) // it may have ended by now
				}
			}
		}
		status := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if !status.Signaled() || status.Signal() != sig {
			t.Errorf("%v: %v\n%s", sig, cmd.ProcessState, stderr)
		}
		reader.Close()
		full.Close()
	}
}

// fullPipe returns a pipe that takes no more bytes.
func fullPipe(t *testing.T) (reader, writer *os.File) {
	t.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	page := make([]byte, 4096)
	for err == nil {
		if err = writer.SetWriteDeadline(time.Now().Add(time.Second)); err == nil {
			_, err = writer.Write(page)
		}
	}
	return reader, writer
}

// writes reports whether a thread of a process is waiting in write(1, …).
func writes(t *testing.T, pid int) bool {
	t.Helper()
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", pid)) // none if it has ended
	for _, file := range threads {
		call, err := os.ReadFile(file)
		if os.IsPermission(err) {
			t.Skip(err)
		}
		if strings.HasPrefix(string(call), fmt.Sprintf("%d 0x1 ", syscall.SYS_WRITE)) {
			return true
		}
	}
	return false
}

// TestEndlessNetwork: one signal ends a command whose network has a loop without an end.
func TestEndlessNetwork(t *testing.T) {
	l := commandtest.New(t)
	network := filepath.Join(testenv.ModuleRoot(t), "extractor", "testdata", "endless.onnx")
	cmd, stderr := l.Process(l.Path("cache"), "embed", "--images", l.Photos(l.Path("photos"), 16, 2, "a"), "--backbone",
		network, "--out", l.Path("out"))
	loaded := func() bool { // it runs at once then
		maps, _ := os.ReadFile(fmt.Sprintf("/proc/%d/maps", cmd.Process.Pid))
		return strings.Contains(string(maps), "libonnxruntime")
	}
	if code := l.SignalWhen(cmd, syscall.SIGINT, loaded); code != command.ExitInterrupted ||
		!strings.Contains(stderr.String(), "interrupted") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}
