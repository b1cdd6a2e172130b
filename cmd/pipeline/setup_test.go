package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/libraries"
	"github.com/seed-90d10d51/pipeline/internal/ort"
	"github.com/seed-90d10d51/pipeline/internal/testenv"
	"github.com/seed-90d10d51/pipeline/internal/turbojpeg"
)

// An emptyHome is a home in which nothing is installed, and an npm that cannot fetch
// anything. The machine may have libraries of its own.
type emptyHome struct {
	*testbed
	env     []string
	program string
}

func newEmptyHome(t *testing.T) *emptyHome {
	t.Helper()
	l := newTestbed(t)
	npm := l.path("bin", "npm")
	l.write(npm, []byte("#!/bin/sh\necho \"$2\" >>"+l.path("asked")+"\necho no network >&2\nexit 1\n"))
	if err := os.Chmod(npm, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Dir(npm) + string(os.PathListSeparator) + os.Getenv("PATH")
	env := append(l.env, ort.EnvLibrary+"=", turbojpeg.EnvLibrary+"=", "HOME="+l.path("home"), "PATH="+path)
	return &emptyHome{testbed: l, env: env, program: os.Args[0]}
}

// setup runs the command in another process, since this one has loaded ONNX Runtime from
// elsewhere. It returns what became of ONNX Runtime and of libjpeg-turbo.
func (h *emptyHome) setup(args ...string) (result [2]setupLibrary, code int, stderr string) {
	h.Helper()
	cmd, messages := h.process(h.path("cache"), append([]string{"setup", "--json"}, args...)...)
	cmd.Path, cmd.Env = h.program, h.env
	out, _ := cmd.Output() // the caller looks at the exit code
	var printed struct{ Libraries []setupLibrary }
	if err := json.Unmarshal(out, &printed); err != nil || len(printed.Libraries) != len(result) {
		h.Fatalf("setup %q: %v: %s%s", args, err, out, messages)
	}
	return [2]setupLibrary(printed.Libraries), cmd.ProcessState.ExitCode(), messages.String()
}

// asked returns the packages that npm was asked for since the last call.
func (h *emptyHome) asked() []string {
	h.Helper()
	if !h.exists(h.path("asked")) {
		return nil
	}
	packages := strings.Fields(string(h.read(h.path("asked"))))
	if err := os.Remove(h.path("asked")); err != nil {
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
			if library.State != state || !strings.HasPrefix(library.File, h.path("user-cache")) {
				t.Errorf("setup %q: %s is %s: %s", args, library.Name, library.State, library.File)
			}
		}
		if code != exitDone || state == libraryFound && stderr != "" {
			t.Errorf("setup %q: exit code %d: %s", args, code, stderr)
		}
	}
	expect(libraryInstalled, "--from", h.path("none"), "--from", from)
	expect(libraryFound)
	expect(libraryFound, "--from", from)
	if asked := h.asked(); asked != nil {
		t.Errorf("npm was asked for %q", asked)
	}
}

// TestSetupAsksForWhatIsMissing: without --from, npm is asked for exactly what neither the
// home nor the machine has, and for everything where the libraries go elsewhere.
func TestSetupAsksForWhatIsMissing(t *testing.T) {
	h := newEmptyHome(t)
	packages := [2]string{libraries.ONNXRuntime().Release(), libraries.TurboJPEG().Release()}
	for _, args := range [][]string{nil, {"--into", h.path("stick")}} {
		result, code, stderr := h.setup(args...)
		var missing []string
		for i, library := range result {
			if library.State == libraryMissing {
				missing = append(missing, packages[i])
				if message := "npm could not fetch " + packages[i]; !strings.Contains(library.Error, message) {
					t.Errorf("setup %q does not say %q: %s", args, message, library.Error)
				}
				continue
			}
			ofTheMachine := h.exists(library.File) && !strings.HasPrefix(library.File, h.dir)
			if library.State != libraryFound || !ofTheMachine || args != nil {
				t.Errorf("setup %q: %s is %s: %s", args, library.Name, library.State, library.File)
			}
		}
		if asked := h.asked(); !slices.Equal(asked, missing) {
			t.Errorf("setup %q: %q are missing, npm was asked for %q", args, missing, asked)
		}
		want := exitDone
		if result[0].State == libraryMissing {
			want = exitFailed
		}
		if code != want || strings.Contains(stderr, "no network") != (want == exitFailed) {
			t.Errorf("setup %q: exit code %d: %s", args, code, stderr)
		}
	}
}

// TestSetupFindsWhatIsThere: libraries that the machine has are found, here in the folder
// of the program; none is installed.
func TestSetupFindsWhatIsThere(t *testing.T) {
	from := testenv.Libraries(t)
	h := newEmptyHome(t)
	h.program = h.path("program", "pipeline")
	h.write(h.program, h.read(os.Args[0]))
	err := errors.Join(os.Chmod(h.program, 0o755), os.CopyFS(filepath.Dir(h.program), os.DirFS(from)))
	if err != nil {
		t.Fatal(err)
	}
	result, code, stderr := h.setup()
	for _, library := range result {
		if library.State != libraryFound || filepath.Dir(library.File) != filepath.Dir(h.program) {
			t.Errorf("%s is %s: %s", library.Name, library.State, library.File)
		}
	}
	if asked := h.asked(); code != exitDone || stderr != "" || asked != nil || h.exists(h.path("user-cache")) {
		t.Errorf("exit code %d: %s; npm was asked for %q", code, stderr, asked)
	}
}

// TestSetupElsewhere: libraries for another machine go into a folder.
func TestSetupElsewhere(t *testing.T) {
	from := testenv.Libraries(t)
	l := newTestbed(t)
	l.must("setup", "--from", from, "--into", l.path("stick"))
	if r := l.must("setup", "--from", from, "--into", l.path("stick")); strings.Count(r.stdout, "(found)") != 2 {
		t.Error(r.stdout)
	}
	l.refused(exitFailed, []string{"ONNX Runtime", "another platform (" + libraries.Platform() + ")"},
		"setup", "--from", from, "--into", l.path("other"), "--platform", "darwin/arm64")
	l.refused(exitUsage, []string{"--into"}, "setup", "--platform", "darwin/arm64")
	l.refused(exitUsage, []string{"plan9/amd64", "linux/amd64"},
		"setup", "--platform", "plan9/amd64", "--into", l.path("other"))
}

// TestSetupWithoutNPM: three lines say what to do.
func TestSetupWithoutNPM(t *testing.T) {
	l := newTestbed(t)
	t.Setenv("PATH", l.path("empty"))
	r := l.expect(exitFailed, "setup", "--into", l.path("stick"))
	lines := strings.Split(strings.TrimSpace(r.stderr), "\n")
	if len(lines) != 4 || !strings.Contains(lines[2], "npm pack onnxruntime-node@") ||
		!strings.Contains(lines[3], "archive") {
		t.Errorf("%q", lines)
	}
}
