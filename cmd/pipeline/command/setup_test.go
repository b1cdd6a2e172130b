package command_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/libraries"
	"github.com/seed-90d10d51/pipeline/internal/ort"
	"github.com/seed-90d10d51/pipeline/internal/testenv"
	"github.com/seed-90d10d51/pipeline/internal/turbojpeg"
)

// An emptyHome is a home in which nothing is installed, and an npm that cannot fetch
// anything. The machine may have libraries of its own.
type emptyHome struct {
	*commandtest.Bed
	env     []string
	program string
}

func newEmptyHome(t *testing.T) *emptyHome {
	t.Helper()
	l := commandtest.New(t)
	npm := l.Path("bin", "npm")
	l.Write(npm, []byte("#!/bin/sh\necho \"$2\" >>"+l.Path("asked")+"\necho no network >&2\nexit 1\n"))
	if err := os.Chmod(npm, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Dir(npm) + string(os.PathListSeparator) + os.Getenv("PATH")
	env := append(l.Env, ort.EnvLibrary+"=", turbojpeg.EnvLibrary+"=", "HOME="+l.Path("home"), "PATH="+path)
	return &emptyHome{Bed: l, env: env, program: os.Args[0]}
}

// setup runs the command in another process, since this one has loaded ONNX Runtime from
// elsewhere. It returns what became of ONNX Runtime and of libjpeg-turbo.
func (h *emptyHome) setup(args ...string) (result [2]command.SetupLibrary, code int, stderr string) {
	h.Helper()
	cmd, messages := h.Process(h.Path("cache"), append([]string{"setup", "--json"}, args...)...)
	cmd.Path, cmd.Env = h.program, h.env
	out, _ := cmd.Output() // the caller looks at the exit code
	var printed struct{ Libraries []command.SetupLibrary }
	if err := json.Unmarshal(out, &printed); err != nil || len(printed.Libraries) != len(result) {
		h.Fatalf("setup %q: %v: %s%s", args, err, out, messages)
	}
	return [2]command.SetupLibrary(printed.Libraries), cmd.ProcessState.ExitCode(), messages.String()
}

// asked returns the packages that npm was asked for since the last call.
func (h *emptyHome) asked() []string {
	h.Helper()
	if !h.Exists(h.Path("asked")) {
		return nil
	}
	packages := strings.Fields(string(h.Read(h.Path("asked"))))
	if err := os.Remove(h.Path("asked")); err != nil {
		h.Fatal(err)
	}
	return packages
}

// TestSetup: an empty home is set up from a folder, whatever the machine has of its own,
// and the program then uses what was installed; npm is not asked for what is there.
func TestSetup(t *testing.T) {
	from := testenv.Libraries(t)
	h := newEmptyHome(t)
	expect := func(state string, args ...string) {
		t.Helper()
		result, code, stderr := h.setup(args...)
		for _, library := range result {
			if library.State != state || !strings.HasPrefix(library.File, h.Path("user-cache")) {
				t.Errorf("setup %q: %s is %s: %s", args, library.Name, library.State, library.File)
			}
		}
		if code != command.ExitDone || state == command.LibraryFound && stderr != "" {
			t.Errorf("setup %q: exit code %d: %s", args, code, stderr)
		}
	}
	expect(command.LibraryInstalled, "--from", h.Path("none"), "--from", from)
	expect(command.LibraryFound)
	expect(command.LibraryFound, "--from", from)
	if asked := h.asked(); asked != nil {
		t.Errorf("npm was asked for %q", asked)
	}
}

// TestSetupAsksForWhatIsMissing: without --from, npm is asked for exactly what neither the
// home nor the machine has, and for everything where the libraries go elsewhere.
func TestSetupAsksForWhatIsMissing(t *testing.T) {
	h := newEmptyHome(t)
	packages := [2]string{libraries.ONNXRuntime().Release(), libraries.TurboJPEG().Release()}
	for _, args := range [][]string{nil, {"--into", h.Path("stick")}} {
		result, code, stderr := h.setup(args...)
		var missing []string
		for i, library := range result {
			if library.State == command.LibraryMissing {
				missing = append(missing, packages[i])
				if message := "npm could not fetch " + packages[i]; !strings.Contains(library.Error, message) {
					t.Errorf("setup %q does not say %q: %s", args, message, library.Error)
				}
				continue
			}
			ofTheMachine := h.Exists(library.File) && !strings.HasPrefix(library.File, h.Dir)
			if library.State != command.LibraryFound || !ofTheMachine || args != nil {
				t.Errorf("setup %q: %s is %s: %s", args, library.Name, library.State, library.File)
			}
		}
		if asked := h.asked(); !slices.Equal(asked, missing) {
			t.Errorf("setup %q: %q are missing, npm was asked for %q", args, missing, asked)
		}
		want := command.ExitDone
		if result[0].State == command.LibraryMissing {
			want = command.ExitFailed
		}
		if code != want || strings.Contains(stderr, "no network") != (want == command.ExitFailed) {
			t.Errorf("setup %q: exit code %d: %s", args, code, stderr)
		}
	}
}

// TestSetupFindsWhatIsThere: libraries that the machine has are found, here in the folder
// of the program; none is installed.
func TestSetupFindsWhatIsThere(t *testing.T) {
	from := testenv.Libraries(t)
	h := newEmptyHome(t)
	h.program = h.Path("program", "pipeline")
	h.Write(h.program, h.Read(os.Args[0]))
	err := errors.Join(os.Chmod(h.program, 0o755), os.CopyFS(filepath.Dir(h.program), os.DirFS(from)))
	if err != nil {
		t.Fatal(err)
	}
	result, code, stderr := h.setup()
	for _, library := range result {
		if library.State != command.LibraryFound || filepath.Dir(library.File) != filepath.Dir(h.program) {
			t.Errorf("%s is %s: %s", library.Name, library.State, library.File)
		}
	}
	if asked := h.asked(); code != command.ExitDone || stderr != "" || asked != nil || h.Exists(h.Path("user-cache")) {
		t.Errorf("exit code %d: %s; npm was asked for %q", code, stderr, asked)
	}
}

// TestSetupElsewhere: libraries for another machine go into a folder.
func TestSetupElsewhere(t *testing.T) {
	from := testenv.Libraries(t)
	l := commandtest.New(t)
	l.Must("setup", "--from", from, "--into", l.Path("stick"))
	if r := l.Must("setup", "--from", from, "--into", l.Path("stick")); strings.Count(r.Stdout, "(found)") != 2 {
		t.Error(r.Stdout)
	}
	l.Refused(command.ExitFailed, []string{"ONNX Runtime", "another platform (" + libraries.Platform() + ")"},
		"setup", "--from", from, "--into", l.Path("other"), "--platform", "darwin/arm64")
	l.Refused(command.ExitUsage, []string{"--into"}, "setup", "--platform", "darwin/arm64")
	l.Refused(command.ExitUsage, []string{"plan9/amd64", "linux/amd64"},
		"setup", "--platform", "plan9/amd64", "--into", l.Path("other"))
}

// TestSetupWithoutNPM: three lines say what to do.
func TestSetupWithoutNPM(t *testing.T) {
	l := commandtest.New(t)
	t.Setenv("PATH", l.Path("empty"))
	r := l.Expect(command.ExitFailed, "setup", "--into", l.Path("stick"))
	lines := strings.Split(strings.TrimSpace(r.Stderr), "\n")
	if len(lines) != 4 || !strings.Contains(lines[2], "npm pack onnxruntime-node@") ||
		!strings.Contains(lines[3], "archive") {
		t.Errorf("%q", lines)
	}
}
