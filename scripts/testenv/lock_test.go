// Package testenv_test checks the files that pin what `make test-setup` and `make lint`
// install.
package testenv_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// folders have a package-lock.json and a requirements.txt.
var folders = []string{".", "../tools"}

// others are further files of pinned Python packages.
var others = []string{"../book/requirements.txt", "../dist/compiler.txt"}

func read(t *testing.T, name string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(name))(t))
}

// TestLock: every npm package is pinned by a strong hash and not by a URL, so
// that any registry can serve it and none has to be trusted.
func TestLock(t *testing.T) {
	for _, folder := range folders {
		checkLock(t, filepath.Join(folder, "package-lock.json"))
	}
}

func checkLock(t *testing.T, file string) {
	t.Helper()
	text := read(t, file)
	if strings.Contains(text, "://") || strings.Contains(text, "resolved") {
		t.Errorf("%s holds an address: make it again with .npmrc in place, without funding fields", file)
	}
	var lock struct {
		Packages map[string]struct{ Version, Integrity string }
	}
	must.Do(t, json.Unmarshal([]byte(text), &lock))
	for name, p := range lock.Packages {
		if name != "" && (p.Version == "" || !strings.HasPrefix(p.Integrity, "sha512-")) {
			t.Errorf("%s: %s: version %q, integrity %q", file, name, p.Version, p.Integrity)
		}
	}
}

// TestRequirements is TestLock for the Python packages.
func TestRequirements(t *testing.T) {
	files := others
	for _, folder := range folders {
		files = append(files, filepath.Join(folder, "requirements.txt"))
	}
	for _, file := range files {
		checkRequirements(t, file)
	}
}

func checkRequirements(t *testing.T, file string) {
	t.Helper()
	text := read(t, file)
	if strings.Contains(text, "://") {
		t.Errorf("%s holds an address", file)
	}
	version := `[0-9.]+((post|b)[0-9]+)?`
	pinned := regexp.MustCompile(`(?m)^[a-z0-9-]+==` + version + `( ; [^\\\n]+)? \\\n    --hash=sha256:[0-9a-f]{64}`)
	packages := regexp.MustCompile(`(?m)^[^\s#]`)
	if got, want := len(pinned.FindAllString(text, -1)), len(packages.FindAllString(text, -1)); got != want ||
		got == 0 {
		t.Errorf("%s: %d of %d packages have a version and a hash", file, got, want)
	}
}
