package dist_test

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// wheelLibraries are what names of files in a wheel's lib begin with, by its platform.
var wheelLibraries = map[string][]string{
	"manylinux_2_28_x86_64": {"libonnxruntime.so.1", "libvips.so.42", "libheif.so.1.23.0", "libde265.so.0.2.0",
		"libstdc++.so.6", "libgcc_s.so.1"},
	"manylinux_2_28_aarch64": {"libonnxruntime.so.1", "libvips.so.42", "libheif.so.1.23.0", "libde265.so.0.2.0",
		"libstdc++.so.6", "libgcc_s.so.1"},
	"macosx_14_0_arm64": {"libonnxruntime.1.30.0.dylib", "libvips.42.dylib", "libheif.1.23.0.dylib",
		"libde265.0.2.0.dylib"},
	"win_amd64": {"onnxruntime.dll", "libvips-42-", "libheif-", "libde265-0-", "libgcc_s_seh-1-", "libstdc++-6-",
		"libwinpthread-1-"},
}

// TestWheel: the wheel that `make wheel` names is for the platform that it says, has the program, its libraries and
// all licences, and lists every file with its hash.
func TestWheel(t *testing.T) {
	path := os.Getenv("PIPELINE_WHEEL")
	if path == "" {
		t.Skip("make wheel sets PIPELINE_WHEEL")
	}
	wheel := must.Get(zip.OpenReader(path))(t)
	defer wheel.Close()
	parts := strings.Split(strings.TrimSuffix(filepath.Base(path), ".whl"), "-")
	version, platform := parts[1], parts[4]
	libraries, program := wheelLibraries[platform], "bin/pipeline"
	if libraries == nil {
		t.Fatalf("the platform is %q", platform)
	}
	if platform == "win_amd64" {
		program += ".exe"
	}
	found := map[string]*zip.File{}
	for _, file := range wheel.File {
		found[packageHash.ReplaceAllString(file.Name, "")] = file
	}
	module, info := "photo_pipeline/", "photo_pipeline-"+version+".dist-info/"
	names := []string{
		module + "__init__.py", module + "py.typed", module + program,
		module + "bin/licences/lgpl-3.0.txt", module + "bin/licences/go/go.txt",
		module + "bin/licences/onnxruntime-ThirdPartyNotices.txt", module + "bin/sbom.cdx.json",
		info + "METADATA", info + "entry_points.txt", info + "licenses/LICENSE", info + "licenses/NOTICE.txt",
	}
	for _, library := range libraries {
		begins := func(name string) bool { return strings.HasPrefix(name, module+"bin/lib/"+library) }
		if !slices.ContainsFunc(slices.Collect(maps.Keys(found)), begins) {
			t.Errorf("no %s", library)
		}
	}
	for _, name := range names {
		if file := found[name]; file == nil || file.UncompressedSize64 == 0 && name != module+"py.typed" {
			t.Errorf("no %s", name)
		}
	}
	if file := found[module+program]; file != nil && file.Mode()&0o111 != 0o111 {
		t.Errorf("the program cannot be run: %v", file.Mode())
	}
	about := string(must.Get(fs.ReadFile(wheel, info+"WHEEL"))(t))
	if !strings.Contains(about, "\nTag: py3-none-"+platform+"\n") ||
		!strings.Contains(about, "\nRoot-Is-Purelib: false\n") {
		t.Errorf("the wheel says of itself\n%s", about)
	}
	checkRecord(t, wheel, info+"RECORD")
}

// checkRecord compares what a wheel lists with what it has.
func checkRecord(t *testing.T, wheel *zip.ReadCloser, record string) {
	t.Helper()
	listed := map[string]string{}
	for _, row := range must.Get(csv.NewReader(must.Get(wheel.Open(record))(t)).ReadAll())(t) {
		listed[row[0]] = row[1]
	}
	for _, file := range wheel.File {
		hash := sha256.New()
		must.Get(io.Copy(hash, must.Get(file.Open())(t)))(t)
		want := "sha256=" + base64.RawURLEncoding.EncodeToString(hash.Sum(nil))
		if file.Name != record && listed[file.Name] != want {
			t.Errorf("RECORD has %q for %s, want %q", listed[file.Name], file.Name, want)
		}
	}
	if len(listed) != len(wheel.File) {
		t.Errorf("RECORD lists %d of %d files", len(listed), len(wheel.File))
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
