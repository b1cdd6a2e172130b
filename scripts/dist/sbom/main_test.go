package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/libraries"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// validate is a program that reads a bill as CycloneDX's own library does, strictly.
const validate = `
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
sys.exit(JsonStrictValidator(SchemaVersion.V1_6).validate_str(sys.stdin.read()) and "not valid")
`

// unpacked makes a folder like an unpacked archive; its program is that of this test.
func unpacked(t *testing.T, platform string, others ...string) string {
	t.Helper()
	root := t.TempDir()
	itself := must.Get(os.Executable())(t)
	program := "pipeline"
	if strings.HasPrefix(platform, "windows/") {
		program = "pipeline.exe"
	}
	must.Do(t, os.Symlink(itself, filepath.Join(root, program)))
	names := others
	for _, l := range append(libraries.Pictures(), libraries.ONNXRuntime()) {
		archive, _ := l.For(platform)
		for _, f := range archive.Contents {
			if !strings.HasSuffix(f.Name, ".txt") { // a licence
				names = append(names, f.Name)
			}
		}
	}
	for _, name := range names {
		file := filepath.Join(root, "lib", name)
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must.Do(t, os.WriteFile(file, []byte(name), 0o644))
	}
	return root
}

// TestDescribe: for each platform, the bill of materials is valid CycloneDX, lists everything
// linked, embedded or shipped with the program, and does not change between runs.
func TestDescribe(t *testing.T) {
	t.Chdir(testenv.ModuleRoot(t))
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	python := testenv.Python(t, "cyclonedx")
	for platform, c := range map[string]struct{ files, origins []string }{
		"linux/amd64": {[]string{"libstdc++.so.6", "libgcc_s.so.1"}, []string{
			"pkg:deb/debian/libstdc%2B%2B6@", "pkg:deb/debian/libgcc-s1@"}},
		"linux/arm64":   {[]string{"libstdc++.so.6"}, []string{"?arch=arm64"}},
		"windows/amd64": {},
	} {
		root := unpacked(t, platform, c.files...)
		bill := must.Get(describe(root, "1.2.3", platform))(t)
		if again, err := describe(root, "1.2.3", platform); err != nil || !bytes.Equal(again, bill) {
			t.Errorf("%s: two bills differ, %v", platform, err)
		}
		for _, part := range append(c.origins, "pkg:golang/std@", "pkg:golang/golang.org/x/sys@v",
			"pkg:pypi/onnxruntime@", "pkg:pypi/pyvips-binary@", "pkg:pypi/pi-heif@",
			"pkg:pypi/efficientnet-lite0-", "2023-11-14T22:13:20Z") {
			if !bytes.Contains(bill, []byte(part)) {
				t.Errorf("%s: no %s in\n%s", platform, part, bill)
			}
		}
		check := exec.Command(python, "-c", validate)
		check.Stdin = bytes.NewReader(bill)
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", platform, err, out)
		}
	}
}

// TestUnknownOrigin: a file that nothing pins is not listed as if it were known.
func TestUnknownOrigin(t *testing.T) {
	t.Chdir(testenv.ModuleRoot(t))
	_, err := describe(unpacked(t, "linux/amd64", "libother.so"), "1.2.3", "linux/amd64")
	if err == nil || !strings.Contains(err.Error(), "libother.so is of unknown origin") {
		t.Error(err)
	}
}
