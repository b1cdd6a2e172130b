// Package dist_test checks the archive that `make dist` writes: `make dist-test`
// runs it with the archive's path in PIPELINE_ARCHIVE.
package dist_test

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// oldest is the glibc that everything in the archive runs on, and largest its size
// in bytes.
const (
	oldest  = "2.28"
	largest = 58_000_000
)

// fromGlibc are the libraries that the archive may expect on a machine.
var fromGlibc = []string{
	"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libresolv.so.2",
	"ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1",
}

func archive(t *testing.T) (path string, files map[string][]byte) {
	t.Helper()
	path = os.Getenv("PIPELINE_ARCHIVE")
	if path == "" {
		t.Skip("make dist-test sets PIPELINE_ARCHIVE")
	}
	f := must.Get(os.Open(path))(t)
	defer f.Close()
	unpacked := must.Get(xz.NewReader(f))(t)
	files = map[string][]byte{}
	root := strings.TrimSuffix(filepath.Base(path), ".tar.xz") + "/"
	for r := tar.NewReader(unpacked); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return path, files
		}
		if err != nil {
			t.Fatal(err)
		}
		name, inside := strings.CutPrefix(h.Name, root)
		if !inside || h.Uid != 0 || h.Gid != 0 || h.Mode&0o022 != 0 {
			t.Errorf("%s: mode %o, owner %d:%d", h.Name, h.Mode, h.Uid, h.Gid)
		}
		if h.Typeflag == tar.TypeReg {
			files[name] = must.Get(io.ReadAll(r))(t)
		}
	}
}

func TestArchive(t *testing.T) {
	path, files := archive(t)
	t.Run("contents", func(t *testing.T) { testContents(t, path, files) })
	if isMac(path) {
		t.Run("load commands", func(t *testing.T) { testLoadCommands(t, files) })
	} else {
		t.Run("symbol versions", func(t *testing.T) { testSymbolVersions(t, path, files) })
	}
	t.Run("list of contents", func(t *testing.T) { testSBOM(t, path, files) })
}

func testContents(t *testing.T, path string, files map[string][]byte) {
	info, err := os.Stat(path)
	if err != nil || info.Size() > largest {
		t.Errorf("%d bytes, %v", info.Size(), err)
	}
	for _, name := range []string{
		"pipeline", "README.txt", "LICENSE",
		"licences/onnxruntime-LICENSE.txt", "licences/onnxruntime-ThirdPartyNotices.txt", "licences/libvips.txt",
		"licences/lgpl-3.0.txt", "licences/pi-heif-LICENSE.txt", "licences/pyvips-binary-LICENSE.txt",
		"licences/efficientnet-lite.txt", "NOTICE.txt", "sbom.cdx.json",
		"licences/go/go.txt", "licences/go/gonum.org_v1_gonum@v0.17.0.txt",
		"completions/pipeline.bash", "completions/pipeline.zsh", "completions/pipeline.fish",
		"man/man1/pipeline-train.1",
	} {
		if len(files[name]) == 0 {
			t.Errorf("no %s", name)
		}
	}
	if !isMac(path) && len(files["licences/libstdc++-libgcc.txt"]) == 0 {
		t.Error("no licence of libstdc++")
	}
	// Text that is in a folder of its module, or of a package that came from elsewhere.
	for module, text := range map[string]string{"github.com_golang_freetype": "The FreeType Project LICENSE",
		"gonum.org_v1_gonum": "Cephes", "github.com_parquet-go_parquet-go": "bloom/xxhash/LICENSE"} {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(files)), func(name string) bool {
			return strings.HasPrefix(name, "licences/go/"+module+"@") && bytes.Contains(files[name], []byte(text))
		}) {
			t.Errorf("the licences of %s lack %q", module, text)
		}
	}
}

// packageHash is what a wheel adds to the name of a library.
var packageHash = regexp.MustCompile(`-[0-9a-f]{8}\b`)

// testSymbolVersions: every program and library in the archive needs nothing but what
// is in it and a glibc no newer than oldest, and names no path of the build.
func testSymbolVersions(t *testing.T, path string, files map[string][]byte) {
	var found []string
	for name, file := range files {
		if !bytes.HasPrefix(file, []byte(elf.ELFMAG)) {
			continue
		}
		found = append(found, packageHash.ReplaceAllString(name, ""))
		if err := runsAnywhere(file, files, machine(path)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if home, err := os.UserHomeDir(); err == nil && name == "pipeline" && bytes.Contains(file, []byte(home+"/")) {
			t.Errorf("%s names %s", name, home)
		}
	}
	slices.Sort(found)
	want := []string{"lib/libde265.so.0.2.0", "lib/libgcc_s.so.1", "lib/libheif.so.1.23.0", "lib/libonnxruntime.so.1",
		"lib/libstdc++.so.6", "lib/libvips.so.42", "pipeline"}
	if !slices.Equal(found, want) {
		t.Errorf("programs and libraries: %q", found)
	}
}

// machine returns the processor that an archive is for, by its name.
func machine(path string) elf.Machine {
	if strings.HasSuffix(path, "-arm64.tar.xz") {
		return elf.EM_AARCH64
	}
	return elf.EM_X86_64
}

func runsAnywhere(file []byte, files map[string][]byte, processor elf.Machine) error {
	f, err := elf.NewFile(bytes.NewReader(file))
	if err != nil {
		return err
	}
	if f.Machine != processor {
		return fmt.Errorf("for %s, not %s", f.Machine, processor)
	}
	needed, err := f.ImportedLibraries()
	if err != nil {
		return err
	}
	for _, library := range needed {
		if files["lib/"+library] == nil && !slices.Contains(fromGlibc, library) {
			return fmt.Errorf("needs %s", library)
		}
	}
	symbols, err := f.ImportedSymbols()
	if err != nil {
		return err
	}
	for _, s := range symbols {
		if version, glibc := strings.CutPrefix(s.Version, "GLIBC_"); glibc && newer(version, oldest) {
			return fmt.Errorf("%s needs glibc %s", s.Name, version)
		}
	}
	return nil
}

// testSBOM: the list of contents has the hash of the program and of every library, and
// the Go modules whose licences are in the archive.
func testSBOM(t *testing.T, path string, files map[string][]byte) {
	text := must.Get(os.ReadFile(strings.TrimSuffix(path, ".tar.xz") + ".cdx.json"))(t)
	if !bytes.Equal(text, files["sbom.cdx.json"]) {
		t.Error("the list of contents in the archive is another one")
	}
	for name, file := range files {
		sum := sha256.Sum256(file)
		if (name == "pipeline" || strings.HasPrefix(name, "lib/")) &&
			!bytes.Contains(text, []byte(hex.EncodeToString(sum[:]))) {
			t.Errorf("the SBOM has no %s", name)
		}
		module, version, ok := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(name, "licences/go/"), ".txt"), "@")
		if ok && !bytes.Contains([]byte(strings.ReplaceAll(string(text), "/", "_")), []byte(module+"@"+version)) {
			t.Errorf("the SBOM has no %s %s", module, version)
		}
	}
}

// newer compares versions such as 2.3.4 and 2.28.
func newer(a, b string) bool {
	number := func(version string) (n [3]int) {
		fmt.Sscanf(strings.ReplaceAll(version, ".", " "), "%d%d%d", &n[0], &n[1], &n[2])
		return n
	}
	x, y := number(a), number(b)
	return slices.Compare(x[:], y[:]) > 0
}

func TestNewer(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{{"2.34", "2.28", true}, {"2.28", "2.28", false}, {"2.2.5", "2.28", false}, {"2.3.4", "2.3", true},
		{"3", "2.28", true}} {
		if newer(c.a, c.b) != c.want {
			t.Errorf("%s newer than %s: not %t", c.a, c.b, c.want)
		}
	}
}
