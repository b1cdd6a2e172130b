package ort

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/seed-90d10d51/pipeline/internal/sharedlib"
)

// CachedVersion is the release that `pipeline setup` installs in the user's cache.
const CachedVersion = "1.30.0"

// EnvLibrary is the environment variable that names the library file.
const EnvLibrary = "ONNXRUNTIME_LIB"

// Locate finds the library to use, in this order: explicit (from the
// configuration), $ONNXRUNTIME_LIB, the one that came with the program, the user's
// cache filled by `pipeline setup`, the system's usual folders. The first two are
// binding: if one is set but unusable, Locate fails without trying anything
// else. The attempts list what was rejected and why, even on success. Errors
// wrap ErrNoLibrary.
func Locate(explicit string) (Library, []Attempt, error) {
	return thisMachine().locate(explicit)
}

// A machine is the environment that Locate depends on; tests make up their own.
type machine struct {
	env          func(string) string
	home         string // "" when unknown
	executable   string // folder of this program, "" when unknown
	root         string // prefix of system folders, "" outside tests
	goos, goarch string
}

func thisMachine() machine {
	m := machine{env: os.Getenv, executable: sharedlib.ProgramDir(), goos: runtime.GOOS, goarch: runtime.GOARCH}
	if home, err := os.UserHomeDir(); err == nil {
		m.home = home
	}
	return m
}

func (m machine) locate(explicit string) (Library, []Attempt, error) {
	if explicit != "" {
		return m.ordered(explicit, "the configuration")
	}
	if path := m.env(EnvLibrary); path != "" {
		return m.ordered(path, "$"+EnvLibrary)
	}
	var attempts []Attempt
	for _, p := range m.places() {
		candidates := p.candidates(m.patterns())
		for _, path := range candidates {
			version, err := inspect(path)
			if err == nil {
				return Library{Path: path, Version: version, Source: p.source}, attempts, nil
			}
			attempts = append(attempts, Attempt{Path: path, Source: p.source, Err: err})
		}
		if len(candidates) == 0 { // for doctor's list
			attempts = append(attempts, Attempt{Path: p.dir, Source: p.source, Err: emptyPlace(m.patterns()[0])})
		}
	}
	return Library{}, attempts, fmt.Errorf("%w: %s", ErrNoLibrary, Remedy)
}

// An emptyPlace is the error of a place without a file of that name.
type emptyPlace string

func (e emptyPlace) Error() string        { return "no " + string(e) + " here" }
func (e emptyPlace) Is(target error) bool { return target == os.ErrNotExist }

// ordered checks the file that the user named.
func (m machine) ordered(path, source string) (Library, []Attempt, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		abs = path
	}
	version, err := inspect(abs)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			err = errors.New("no such file")
		}
		return Library{}, []Attempt{{Path: abs, Source: source, Err: err}}, fmt.Errorf("%w: %s, named by %s: %w; "+
			"correct it, or remove the setting and run `pipeline setup`", ErrNoLibrary, abs, source, err)
	}
	return Library{Path: abs, Version: version, Source: source}, nil, nil
}

func (m machine) cacheDir() string {
	return sharedlib.SetupDir(m.env, m.home, "onnxruntime", CachedVersion)
}

// A place is a folder that may hold the library.
type place struct {
	dir    string
	source string
}

func (m machine) places() []place {
	var all []place
	add := func(source string, dirs ...string) {
		for _, d := range dirs {
			if d != "" {
				all = append(all, place{dir: d, source: source})
			}
		}
	}
	add("shipped with the program", sharedlib.Beside(m.executable)...)
	add("the user's cache (pipeline setup)", m.cacheDir())
	for _, d := range m.systemDirs() {
		add("a usual place", filepath.Join(m.root, d))
	}
	if m.home != "" {
		add("a usual place", filepath.Join(m.home, ".local", "lib"))
	}
	return all
}

func (m machine) systemDirs() []string {
	switch m.goos {
	case "windows":
		if programs := m.env("ProgramFiles"); programs != "" {
			return []string{filepath.Join(programs, "onnxruntime", "lib")}
		}
		return nil
	case "darwin":
		return []string{"/opt/homebrew/lib", "/opt/homebrew/opt/onnxruntime/lib", "/usr/local/lib",
			"/usr/local/opt/onnxruntime/lib", "/opt/onnxruntime/lib"}
	}
	return append([]string{"/usr/local/lib", "/opt/onnxruntime/lib", "/usr/lib", "/usr/lib64"},
		sharedlib.Multiarch(m.goarch)...)
}

// patterns returns the names of the library, best first.
func (m machine) patterns() []string {
	switch m.goos {
	case "windows":
		return []string{"onnxruntime.dll"}
	case "darwin":
		return []string{"libonnxruntime.dylib", "libonnxruntime.*.dylib"}
	}
	return []string{"libonnxruntime.so", "libonnxruntime.so.*"}
}

// candidates lists the matching files of the folder, each real file once.
func (p place) candidates(patterns []string) []string {
	var found, real []string
	for _, pattern := range patterns {
		for _, path := range sharedlib.Glob(p.dir, pattern) {
			target, err := filepath.EvalSymlinks(path)
			if err != nil {
				target = path
			}
			if !slices.Contains(real, target) {
				real = append(real, target)
				found = append(found, path)
			}
		}
	}
	return found
}
