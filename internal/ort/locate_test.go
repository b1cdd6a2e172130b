package ort

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// fakeLibrary compiles a shared library whose headers look like ONNX Runtime of
// that version ("" omits the entry point).
func fakeLibrary(t *testing.T, path, version string) {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil || runtime.GOOS != "linux" {
		t.Skip("needs cc on Linux")
	}
	dir := t.TempDir()
	source, script := filepath.Join(dir, "a.c"), filepath.Join(dir, "a.map")
	code, versions := "void *OrtGetApiBase(void) { return 0; }\n", "VERS_"+version+
		" { global: OrtGetApiBase; local: *; };\n"
	if version == "" {
		code, versions = "int other(void) { return 0; }\n", "OTHER { global: other; };\n"
	}
	write(t, source, code)
	write(t, script, versions)
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
	out, err := exec.Command(cc, "-shared", "-fPIC", "-nostdlib", "-o", path, source, "-Wl,--version-script="+
		script).CombinedOutput()
	if err != nil {
		t.Fatalf("cc: %v\n%s", err, out)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must.Do(t, os.WriteFile(path, []byte(content), 0o644))
}

// emptyMachine returns a machine with its own home, program and system folders.
func emptyMachine(t *testing.T, env map[string]string) machine {
	t.Helper()
	dir := t.TempDir()
	return machine{
		env:  func(key string) string { return env[key] },
		home: filepath.Join(dir, "home"), executable: filepath.Join(dir, "bin"), root: dir,
		goos: "linux", goarch: runtime.GOARCH,
	}
}

func TestLocateOrder(t *testing.T) {
	m := emptyMachine(t, nil)
	steps := []struct{ path, version string }{ // each goes before all earlier ones
		{filepath.Join(m.home, ".local/lib/libonnxruntime.so.1"), "1.24.3"},
		{filepath.Join(m.root, "usr/lib/libonnxruntime.so.1.25.0"), "1.25.0"},
		{filepath.Join(m.root, "usr/local/lib/libonnxruntime.so"), "1.26.0"},
		{filepath.Join(m.home, ".cache/pipeline/onnxruntime/1.30.0/libonnxruntime.so.1"), "1.30.0"},
		{filepath.Join(m.root, "lib/pipeline/libonnxruntime.so"), "1.26.1"},
		{filepath.Join(m.executable, "lib/libonnxruntime.so"), "1.26.2"},
		{filepath.Join(m.executable, "libonnxruntime.so"), "1.27.0"},
	}
	for _, s := range steps {
		fakeLibrary(t, s.path, s.version)
		lib, _, err := m.locate("")
		if err != nil || lib.Path != s.path || lib.Version != s.version {
			t.Errorf("after adding %s: %+v, %v", s.path, lib, err)
		}
	}
	m.env = func(key string) string { return map[string]string{EnvLibrary: steps[0].path}[key] }
	if lib, _, err := m.locate(""); err != nil || lib.Path != steps[0].path || lib.Source != "$"+EnvLibrary {
		t.Errorf("environment: %+v, %v", lib, err)
	}
	if lib, _, err := m.locate(steps[1].path); err != nil || lib.Path != steps[1].path {
		t.Errorf("explicit: %+v, %v", lib, err)
	}
}

func TestLocateNothing(t *testing.T) {
	m := emptyMachine(t, nil)
	_, attempts, err := m.locate("")
	if !errors.Is(err, ErrNoLibrary) || !strings.Contains(err.Error(), "pipeline setup") {
		t.Error(err)
	}
	if len(attempts) != len(m.places()) {
		t.Errorf("%d attempts for %d places", len(attempts), len(m.places()))
	}
}

// TestLocateObeys: a library named by the user is used or an error, never
// replaced by another.
func TestLocateObeys(t *testing.T) {
	m := emptyMachine(t, map[string]string{EnvLibrary: "/nowhere/libonnxruntime.so"})
	fakeLibrary(t, filepath.Join(m.root, "usr/lib/libonnxruntime.so"), "1.30.0")
	_, attempts, err := m.locate("")
	if !errors.Is(err, ErrNoLibrary) || !strings.Contains(fmt.Sprint(err), "$ONNXRUNTIME_LIB: no such file") ||
		len(attempts) != 1 {
		t.Errorf("%v, %v", attempts, err)
	}
	if _, _, err = m.locate("relative/name.so"); err == nil || !strings.Contains(err.Error(), "the configuration") {
		t.Error(err)
	}
}

// TestLocateSkipsBroken: Locate finds the good library after several bad ones,
// and reports what was wrong with those.
func TestLocateSkipsBroken(t *testing.T) {
	m := emptyMachine(t, nil)
	lib := func(dir string) string { return filepath.Join(m.root, dir, "libonnxruntime.so") }
	write(t, lib("usr/local/lib"), "<html>not found</html>")
	fakeLibrary(t, lib("opt/onnxruntime/lib"), "1.23.2")
	fakeLibrary(t, lib("usr/lib"), "")
	good := filepath.Join(m.home, ".local/lib/libonnxruntime.so.1.24.0")
	fakeLibrary(t, good, "1.24.0")
	found, attempts, err := m.locate("")
	if err != nil || found.Path != good {
		t.Errorf("%+v, %v", found, err)
	}
	reasons := map[string]string{
		lib("usr/local/lib"):       "not a shared library",
		lib("opt/onnxruntime/lib"): "1.23.2 is too old",
		lib("usr/lib"):             "not ONNX Runtime",
	}
	for _, a := range attempts {
		if want := reasons[a.Path]; !strings.Contains(a.Err.Error(), want) {
			t.Errorf("%s: %v", a.Path, a.Err)
		}
		delete(reasons, a.Path)
	}
	if len(reasons) != 0 {
		t.Errorf("no reason given for %v", reasons)
	}
}

func TestInspectRefuses(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "good.so")
	fakeLibrary(t, good, "1.30.0")
	b := must.Get(os.ReadFile(good))(t)
	if v, err := inspect(good); v != "1.30.0" || err != nil {
		t.Fatalf("%q, %v", v, err)
	}
	cut := filepath.Join(dir, "cut.so")
	for n := 0; n < len(b); n += 1 + len(b)/40 {
		write(t, cut, string(b[:n]))
		if v, err := inspect(cut); err == nil && n < len(b)/2 {
			t.Errorf("cut to %d of %d bytes: version %q, no error", n, len(b), v)
		}
	}
	b[18] ^= 0xff // of the processor in an ELF header
	write(t, cut, string(b))
	if _, err := inspect(cut); err == nil || !strings.Contains(err.Error(), "another processor") {
		t.Errorf("other processor: %v", err)
	}
	if _, err := inspect(dir); err == nil || !strings.Contains(err.Error(), "folder") {
		t.Errorf("folder: %v", err)
	}
	for system, head := range map[string]string{"macOS": "\xcf\xfa\xed\xfe", "Windows": "MZ"} {
		write(t, cut, head+strings.Repeat("\x00", 1000))
		if _, err := inspect(cut); err == nil || !strings.Contains(err.Error(), "not a shared library of this system") {
			t.Errorf("a file of %s: %v", system, err)
		}
	}
}

func TestCacheDir(t *testing.T) {
	m := emptyMachine(t, map[string]string{"XDG_CACHE_HOME": "/xdg"})
	if got := m.cacheDir(); got != "/xdg/pipeline/onnxruntime/"+CachedVersion {
		t.Error(got)
	}
	m.env = func(string) string { return "relative" } // to be ignored
	if got := m.cacheDir(); got != filepath.Join(m.home, ".cache/pipeline/onnxruntime", CachedVersion) {
		t.Error(got)
	}
	m.home = ""
	if got := m.cacheDir(); got != "" {
		t.Errorf("without a home: %q", got)
	}
}

func TestCheckVersion(t *testing.T) {
	for _, ok := range []string{"", "1.24.3", "1.30.0", "1.31", "2.0.0"} {
		if err := checkVersion(ok); err != nil {
			t.Errorf("%q: %v", ok, err)
		}
	}
	for _, bad := range []string{"1.23.2", "0.9.1", "1", "1.x.0", "abc"} {
		if err := checkVersion(bad); err == nil {
			t.Errorf("%q passes", bad)
		}
	}
}

func TestPlacesOfOtherSystems(t *testing.T) {
	m := emptyMachine(t, map[string]string{"ProgramFiles": "/pf"})
	for goos, want := range map[string]string{"darwin": "/opt/homebrew/lib", "windows": "/pf/onnxruntime/lib"} {
		m.goos = goos
		found := false
		for _, p := range m.places() {
			found = found || p.dir == filepath.Join(m.root, want)
		}
		if !found {
			t.Errorf("%s: %s is not among %v", goos, want, m.places())
		}
	}
}
