// Package setup_test checks the files that pin what `make setup` and
// `make test-setup` install.
package setup_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/ort"
	"github.com/seed-90d10d51/pipeline/internal/turbojpeg"
)

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestOneVersionEverywhere(t *testing.T) {
	for _, p := range []struct{ name, variable, version string }{
		{"onnxruntime-node", "onnxruntime", ort.CachedVersion},
		{"@julusian/jpeg-turbo", "turbojpeg", turbojpeg.CachedVersion},
	} {
		for file, line := range map[string]string{
			"package.json": `"` + p.name + `": "` + p.version + `"`,
			"libraries.sh": "\n" + p.variable + "=" + p.version + " ",
		} {
			if !strings.Contains(read(t, file), line) {
				t.Errorf("%s: no %s", file, line)
			}
		}
		if got := locked(t, "package-lock.json")["node_modules/"+p.name].Version; got != p.version {
			t.Errorf("locked %s %q", p.name, got)
		}
	}
}

// TestOptionalIsOnePackage: npm can leave out ONNX Runtime or libjpeg-turbo, and
// what would compile the latter is not fetched.
func TestOptionalIsOnePackage(t *testing.T) {
	for name, p := range locked(t, "package-lock.json") {
		if name != "" && p.Optional != strings.Contains(name, "jpeg-turbo") || p.Optional == p.Dev && name != "" || p.Optional && len(p.Dependencies) > 0 {
			t.Errorf("%s: optional %t, dev %t, dependencies %v", name, p.Optional, p.Dev, p.Dependencies)
		}
	}
}

// TestLocks: every npm package is pinned by a strong hash and not by a URL, so
// that any registry can serve it and none has to be trusted.
func TestLocks(t *testing.T) {
	for _, file := range []string{"package-lock.json", "../testenv/package-lock.json"} {
		for name, p := range locked(t, file) {
			if name != "" && (p.Version == "" || !strings.HasPrefix(p.Integrity, "sha512-")) {
				t.Errorf("%s: %s: version %q, integrity %q", file, name, p.Version, p.Integrity)
			}
		}
	}
}

type npmPackage struct {
	Version, Integrity string
	Optional, Dev      bool
	Dependencies       map[string]string
}

func locked(t *testing.T, file string) map[string]npmPackage {
	t.Helper()
	text := read(t, file)
	if strings.Contains(text, "://") || strings.Contains(text, "resolved") {
		t.Errorf("%s holds an address: make it again with .npmrc in place, without funding fields", file)
	}
	var lock struct{ Packages map[string]npmPackage }
	if err := json.Unmarshal([]byte(text), &lock); err != nil {
		t.Fatal(err)
	}
	return lock.Packages
}

// TestRequirements is TestLocks for the Python packages.
func TestRequirements(t *testing.T) {
	const file = "../testenv/requirements.txt"
	text := read(t, file)
	if strings.Contains(text, "://") {
		t.Errorf("%s holds an address", file)
	}
	pinned := regexp.MustCompile(`(?m)^[a-z0-9-]+==[0-9.]+( ; [^\\\n]+)? \\\n    --hash=sha256:[0-9a-f]{64}`)
	packages := regexp.MustCompile(`(?m)^[^\s#]`)
	if got, want := len(pinned.FindAllString(text, -1)), len(packages.FindAllString(text, -1)); got != want || got == 0 {
		t.Errorf("%s: %d of %d packages have a version and a hash", file, got, want)
	}
}
