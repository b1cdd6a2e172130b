// Package setup_test checks that the files that pin ONNX Runtime agree.
package setup_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/ort"
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
	for name, line := range map[string]string{
		"package.json":   `"onnxruntime-node": "` + ort.CachedVersion + `"`,
		"onnxruntime.sh": "version=" + ort.CachedVersion + " ",
	} {
		if !strings.Contains(read(t, name), line) {
			t.Errorf("%s: no %s", name, line)
		}
	}
}

// TestLock: every package is pinned by a strong hash, and by no address, so
// that any registry may serve it and none has to be trusted.
func TestLock(t *testing.T) {
	text := read(t, "package-lock.json")
	if strings.Contains(text, "://") || strings.Contains(text, "resolved") {
		t.Error("package-lock.json holds an address: make it again with setup/.npmrc in place, without funding fields")
	}
	var lock struct {
		Packages map[string]struct{ Version, Integrity string }
	}
	if err := json.Unmarshal([]byte(text), &lock); err != nil {
		t.Fatal(err)
	}
	for name, p := range lock.Packages {
		if name != "" && (p.Version == "" || !strings.HasPrefix(p.Integrity, "sha512-")) {
			t.Errorf("%s: version %q, integrity %q", name, p.Version, p.Integrity)
		}
	}
	if got := lock.Packages["node_modules/onnxruntime-node"].Version; got != ort.CachedVersion {
		t.Errorf("locked onnxruntime-node %q", got)
	}
}
