package dist_test

import (
	"archive/zip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// TestWheel: the wheel that `make wheel-test` names has the program, its libraries and all licences.
func TestWheel(t *testing.T) {
	path := os.Getenv("PIPELINE_WHEEL")
	if path == "" {
		t.Skip("make wheel-test sets PIPELINE_WHEEL")
	}
	wheel := must.Get(zip.OpenReader(path))(t)
	defer wheel.Close()
	found := map[string]*zip.File{}
	for _, file := range wheel.File {
		found[packageHash.ReplaceAllString(file.Name, "")] = file
	}
	module, version := "photo_pipeline/", strings.Split(filepath.Base(path), "-")[1]
	info := "photo_pipeline-" + version + ".dist-info/"
	for _, name := range []string{
		module + "__init__.py", module + "py.typed", module + "bin/pipeline", module + "bin/lib/libonnxruntime.so.1",
		module + "bin/lib/libvips.so.42", module + "bin/lib/libheif.so.1.23.0", module + "bin/lib/libde265.so.0.2.0",
		module + "bin/lib/libstdc++.so.6", module + "bin/licences/lgpl-3.0.txt", module + "bin/licences/go/go.txt",
		module + "bin/licences/onnxruntime-ThirdPartyNotices.txt", module + "bin/sbom.cdx.json",
		info + "RECORD", info + "METADATA", info + "entry_points.txt", info + "licenses/LICENSE",
		info + "licenses/NOTICE.txt",
	} {
		if file := found[name]; file == nil || file.UncompressedSize64 == 0 && name != module+"py.typed" {
			t.Errorf("no %s", name)
		}
	}
	if program := found[module+"bin/pipeline"]; program != nil && program.Mode()&0o111 != 0o111 {
		t.Errorf("the program cannot be run: %v", program.Mode())
	}
}

// TestPythonModule runs the tests of the module, among them the blocks of its README, and mypy in the environment
// that `make wheel-test` installed the wheel into.
func TestPythonModule(t *testing.T) {
	python := os.Getenv("PIPELINE_WHEEL_PYTHON")
	if python == "" {
		t.Skip("make wheel-test sets PIPELINE_WHEEL_PYTHON")
	}
	source := filepath.Join(testenv.ModuleRoot(t), "deploy", "python")
	for _, arguments := range [][]string{
		{"-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error::FutureWarning",
			"--rootdir", source, filepath.Join(source, "tests")},
		{"-m", "mypy", "--cache-dir", os.DevNull, "--config-file", filepath.Join(source, "pyproject.toml"),
			filepath.Join(source, "photo_pipeline"), filepath.Join(source, "tests")},
	} {
		cmd := exec.CommandContext(t.Context(), python, arguments...)
		cmd.Dir = t.TempDir() // where the module is the one of the wheel
		for _, variable := range os.Environ() {
			if !strings.HasPrefix(variable, "PIPELINE_") { // which the program takes for settings
				cmd.Env = append(cmd.Env, variable)
			}
		}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", arguments, err, out)
		}
		t.Logf("%s", out)
	}
}
