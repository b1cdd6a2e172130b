// Package testenv finds what only some tests need: Python, a headless browser and what
// pipeline setup fetches. `make test-setup` installs all three.
package testenv

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// Environment variables that name the developer's own programs.
const (
	envPython  = "PIPELINE_PYTHON"
	envBrowser = "PIPELINE_BROWSER"
)

// Missing ends a test that lacks a prerequisite. In CI (the environment
// variable CI is set) it fails the test, elsewhere it skips it.
func Missing(tb testing.TB, format string, args ...any) {
	tb.Helper()
	if os.Getenv("CI") != "" {
		tb.Fatalf(format, args...)
	}
	tb.Skipf(format, args...)
}

// Python returns the path of a Python interpreter that can import the modules:
// $PIPELINE_PYTHON, otherwise the one that `make test-setup` installs.
func Python(tb testing.TB, modules ...string) string {
	tb.Helper()
	python := os.Getenv(envPython)
	if python == "" {
		python = filepath.Join(installed(tb), "python", "bin", "python")
	}
	if err := exec.Command(python, "-c", "").Run(); err != nil {
		Missing(tb, "needs Python: run make test-setup, or set %s: %v", envPython, err)
	}
	for _, module := range modules {
		if err := exec.Command(python, "-c", "import "+module).Run(); err != nil {
			Missing(tb, "needs a Python with %s, and %s has none: unset %s and run make test-setup", module, python,
				envPython)
		}
	}
	return python
}

// browser returns the path of Chromium: $PIPELINE_BROWSER, the one that
// `make test-setup` installs, or one on the PATH.
func browser(tb testing.TB) string {
	tb.Helper()
	names := []string{filepath.Join(installed(tb), "browser", "chromium"), "chromium", "chromium-browser",
		"google-chrome"}
	if named := os.Getenv(envBrowser); named != "" {
		names = []string{named}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	Missing(tb, "needs a browser: run make test-setup, or set %s to Chromium's program", envBrowser)
	return ""
}

// Libraries returns a folder with ONNX Runtime, libvips and libheif as pipeline setup fetches
// them, whatever this machine has of its own.
func Libraries(tb testing.TB) string {
	tb.Helper()
	dir := filepath.Join(installed(tb), "libraries")
	files, err := os.ReadDir(dir)
	if err != nil || len(files) == 0 {
		Missing(tb, "needs the libraries that pipeline setup fetches in %s: run make test-setup", dir)
	}
	return dir
}

// Small returns the network of 0.2, which is fast and which the models of 0.2 in tests need.
func Small(tb testing.TB) string {
	tb.Helper()
	return filepath.Join(ModuleRoot(tb), "models", "default.onnx")
}

// installed returns the folder filled by scripts/testenv/setup.sh.
func installed(tb testing.TB) string {
	tb.Helper()
	return filepath.Join(ModuleRoot(tb), ".testenv")
}

// ModuleRoot returns the folder of the go.mod that governs the working
// directory.
func ModuleRoot(tb testing.TB) string {
	tb.Helper()
	return must.Get(FindModuleRoot())(tb)
}

// FindModuleRoot is ModuleRoot where there is no test yet.
func FindModuleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod above the working directory")
		}
		dir = parent
	}
}

// Axe returns the script of axe-core, which checks a page for accessibility:
// the one that `make test-setup` installs.
func Axe(tb testing.TB) string {
	tb.Helper()
	script, err := os.ReadFile(filepath.Join(installed(tb), "browser", "axe.min.js"))
	if err != nil {
		Missing(tb, "needs axe-core: run make test-setup: %v", err)
	}
	return string(script)
}
