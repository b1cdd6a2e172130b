package command_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/extractor/backbone"
	"github.com/seed-90d10d51/pipeline/internal/imagelib"
	"github.com/seed-90d10d51/pipeline/internal/libraries"
	"github.com/seed-90d10d51/pipeline/internal/ort"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// An emptyHome is a home in which nothing is installed, and a pip that cannot fetch anything.
// The machine may have libraries of its own.
type emptyHome struct {
	*commandtest.Bed
	env     []string
	program string
}

func newEmptyHome(t *testing.T) *emptyHome {
	t.Helper()
	l := commandtest.New(t)
	pip := l.Path("bin", "pip3")
	l.Write(pip, []byte("#!/bin/sh\n[ \"$1\" != --version ] || exit 0\necho \"$2\" >>"+l.Path("asked")+
		"\necho no such index >&2\nexit 1\n"))
	must.Do(t, os.Chmod(pip, 0o755))
	path := filepath.Dir(pip) + string(os.PathListSeparator) + os.Getenv("PATH")
	env := append(l.Env, ort.EnvLibrary+"=", imagelib.Vips().Env+"=", imagelib.Heif().Env+"=",
		"HOME="+l.Path("home"), "PATH="+path)
	return &emptyHome{Bed: l, env: env, program: os.Args[0]}
}

// setup runs the command in another process, since this one has loaded ONNX Runtime from
// elsewhere. It returns what became of ONNX Runtime, libvips and libheif.
func (h *emptyHome) setup(args ...string) (result [3]pipeline.Library, code int, stderr string) {
	h.Helper()
	cmd, messages := h.Process(h.Path("cache"), append([]string{"setup", "--json"}, args...)...)
	cmd.Path, cmd.Env = h.program, h.env
	out, _ := cmd.Output() // the caller looks at the exit code
	var printed struct{ Libraries []pipeline.Library }
	if err := json.Unmarshal(out, &printed); err != nil || len(printed.Libraries) != len(result) {
		h.Fatalf("setup %q: %v: %s%s", args, err, out, messages)
	}
	return [3]pipeline.Library(printed.Libraries), cmd.ProcessState.ExitCode(), messages.String()
}

// asked returns the packages that pip was asked for since the last call.
func (h *emptyHome) asked() []string {
	h.Helper()
	if !h.Exists(h.Path("asked")) {
		return nil
	}
	packages := strings.Fields(string(h.Read(h.Path("asked"))))
	must.Do(h, os.Remove(h.Path("asked")))
	return packages
}

// TestSetup: an empty home is set up from a folder, whatever the machine has of its own,
// and the program then uses what was installed; pip is not asked for what is there.
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
		if code != command.ExitDone || state == pipeline.LibraryFound && stderr != "" {
			t.Errorf("setup %q: exit code %d: %s", args, code, stderr)
		}
	}
	expect(pipeline.LibraryInstalled, "--from", h.Path("none"), "--from", from)
	expect(pipeline.LibraryFound)
	expect(pipeline.LibraryFound, "--from", from)
	if asked := h.asked(); asked != nil {
		t.Errorf("pip was asked for %q", asked)
	}
}

// TestSetupAsksForWhatIsMissing: without --from, pip is asked for exactly what neither the
// home nor the machine has, and for everything where the libraries go elsewhere.
func TestSetupAsksForWhatIsMissing(t *testing.T) {
	h := newEmptyHome(t)
	var packages []string
	for _, l := range append([]libraries.Library{libraries.ONNXRuntime()}, libraries.Pictures()...) {
		packages = append(packages, l.Release())
	}
	for _, args := range [][]string{nil, {"--into", h.Path("stick")}} {
		result, code, stderr := h.setup(args...)
		var missing []string
		for i, library := range result {
			if library.State == pipeline.LibraryMissing {
				missing = append(missing, packages[i])
				if message := "pip could not fetch " + packages[i]; !strings.Contains(library.Error, message) {
					t.Errorf("setup %q does not say %q: %s", args, message, library.Error)
				}
				continue
			}
			ofTheMachine := h.Exists(library.File) && !strings.HasPrefix(library.File, h.Dir)
			if library.State != pipeline.LibraryFound || !ofTheMachine || args != nil {
				t.Errorf("setup %q: %s is %s: %s", args, library.Name, library.State, library.File)
			}
		}
		if asked := h.asked(); !slices.Equal(asked, missing) {
			t.Errorf("setup %q: %q are missing, pip was asked for %q", args, missing, asked)
		}
		want := command.ExitDone
		if result[0].State == pipeline.LibraryMissing {
			want = command.ExitFailed
		}
		if code != want || want == command.ExitFailed && !strings.Contains(stderr, "no such index") {
			t.Errorf("setup %q: exit code %d: %s", args, code, stderr)
		}
	}
}

// TestSetupFromParts: a library that is damaged or missing is named, and the set-up succeeds with
// the others.
func TestSetupFromParts(t *testing.T) {
	from := testenv.Libraries(t)
	h := newEmptyHome(t)
	must.Do(t, os.CopyFS(h.Path("libraries"), os.DirFS(from)))
	vips, _ := libraries.Pictures()[0].For(libraries.Platform())
	file := h.Path("libraries", vips.Contents[0].Name)
	content := h.Read(file)
	content[len(content)/2] ^= 1
	for _, c := range []struct{ word string }{{"is damaged"}, {"has none of the libraries"}} {
		if c.word == "is damaged" {
			h.Write(file, content)
		} else if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		result, code, stderr := h.setup("--from", h.Path("libraries"))
		if result[1].State == pipeline.LibraryMissing && (code != command.ExitDone ||
			!strings.Contains(result[1].Error, c.word)) || result[1].State == pipeline.LibraryInstalled {
			t.Errorf("exit code %d, %+v: %s", code, result[1], stderr)
		}
	}
}

// TestNetworkOfNewModels: a new model uses the network of the program unless another is named,
// and a model keeps its own.
func TestNetworkOfNewModels(t *testing.T) {
	l := commandtest.New(t)
	images := l.Photos(l.Path("images"), 48, 3, "red", "blue")
	train := func(name, network string, args ...string) {
		t.Helper()
		cmd, stderr := l.Process(l.Path("cache"),
			append([]string{"train", "--images", images, "--out", l.Path(name)}, args...)...)
		cmd.Env = append(l.Env, commandtest.AsReleased+"=1")
		if err := cmd.Run(); err != nil {
			t.Fatalf("train %q: %v: %s", args, err, stderr)
		}
		if r := l.Must("inspect", l.Path(name)); !strings.Contains(r.Stdout, network) {
			t.Errorf("%s does not use %s:\n%s", name, network, r.Stdout)
		}
		l.Must("label", l.Path(name), "--images", images, "--out", l.Path("labels-"+name))
		l.Must("learn", l.Path(name), "--images", l.Photos(l.Path("more"), 48, 3, "green"))
	}
	train("new", backbone.OfNewModels)
	train("named", "default.onnx", "--backbone", testenv.Small(t))
}

// TestSetupFindsWhatIsThere: libraries that the machine has are found, here in the folder
// of the program; none is installed.
func TestSetupFindsWhatIsThere(t *testing.T) {
	from := testenv.Libraries(t)
	h := newEmptyHome(t)
	h.program = h.Path("program", "pipeline")
	h.Write(h.program, h.Read(os.Args[0]))
	must.Do(t, errors.Join(os.Chmod(h.program, 0o755), os.CopyFS(filepath.Dir(h.program), os.DirFS(from))))
	result, code, stderr := h.setup()
	for _, library := range result {
		if library.State != pipeline.LibraryFound || filepath.Dir(library.File) != filepath.Dir(h.program) {
			t.Errorf("%s is %s: %s", library.Name, library.State, library.File)
		}
	}
	if asked := h.asked(); code != command.ExitDone || stderr != "" || asked != nil || h.Exists(h.Path("user-cache")) {
		t.Errorf("exit code %d: %s; pip was asked for %q", code, stderr, asked)
	}
}

// TestSetupElsewhere: libraries for another machine go into a folder.
func TestSetupElsewhere(t *testing.T) {
	from := testenv.Libraries(t)
	l := commandtest.New(t)
	l.Must("setup", "--from", from, "--into", l.Path("stick"))
	if r := l.Must("setup", "--from", from, "--into", l.Path("stick")); strings.Count(r.Stdout, "(found)") != 3 {
		t.Error(r.Stdout)
	}
	l.Refused(command.ExitFailed, []string{"ONNX Runtime", "another platform (" + libraries.Platform() + ")"},
		"setup", "--from", from, "--into", l.Path("other"), "--platform", "darwin/arm64")
	l.Refused(command.ExitUsage, []string{"--into"}, "setup", "--platform", "darwin/arm64")
	l.Refused(command.ExitUsage, []string{"plan9/amd64", "linux/amd64"},
		"setup", "--platform", "plan9/amd64", "--into", l.Path("other"))
}

// TestSetupWithoutPip: three lines say what to do.
func TestSetupWithoutPip(t *testing.T) {
	l := commandtest.New(t)
	t.Setenv("PATH", l.Path("empty"))
	r := l.Expect(command.ExitFailed, "setup", "--into", l.Path("stick"))
	lines := strings.Split(strings.TrimSpace(r.Stderr), "\n")
	if len(lines) != 4 || !strings.Contains(lines[1], "python3-pip") || !strings.Contains(lines[2], "--into") ||
		!strings.Contains(lines[3], "archive") {
		t.Errorf("%q", lines)
	}
}
