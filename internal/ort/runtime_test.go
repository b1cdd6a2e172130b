package ort_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/hostmem"
	"github.com/seed-90d10d51/pipeline/internal/ort"
	"github.com/seed-90d10d51/pipeline/internal/ort/orttest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/onnx"
)

const models = "../../extractor/testdata" // made by make_models.py there

func readModel(tb testing.TB, name string) []byte {
	tb.Helper()
	return must.Get(os.ReadFile(filepath.Join(models, name+".onnx")))(tb)
}

func TestOpenIsOnePerProcess(t *testing.T) {
	rt := orttest.Open(t)
	again, err := ort.Open(rt.Library())
	if err != nil || again != rt {
		t.Errorf("second Open: %p and %p, %v", rt, again, err)
	}
	link := filepath.Join(t.TempDir(), "link.so")
	if err := os.Symlink(rt.Library().Path, link); err != nil {
		t.Skip("needs symbolic links: ", err)
	}
	if again, err = ort.Open(ort.Library{Path: link}); err != nil || again != rt {
		t.Errorf("through a link: %v", err)
	}
	if _, err := ort.Open(ort.Library{Path: os.Args[0]}); err == nil || !strings.Contains(err.Error(), "only one") {
		t.Errorf("another library: %v", err)
	}
}

func TestVersion(t *testing.T) {
	rt := orttest.Open(t)
	located, _ := must.Get2(ort.Locate(""))(t)
	if located.Version != "" && located.Version != rt.Version() {
		t.Errorf("the header says %s, the library %s", located.Version, rt.Version())
	}
	if !strings.HasPrefix(rt.Version(), rt.MajorMinor()+".") {
		t.Errorf("version %s, major.minor %s", rt.Version(), rt.MajorMinor())
	}
}

func TestSessionRuns(t *testing.T) {
	rt := orttest.Open(t)
	s := must.Get(rt.NewSession(readModel(t, "nchw"), []string{"input"}, []string{"features"}, ort.CPU))(t)
	defer s.Close()
	in := newTensor(t, rt, 2, 3, 4, 4)
	for i := range in.Data() {
		in.Data()[i] = float32(i / 16) // planes 0…5
	}
	shape, err := s.Shape(in)
	if err != nil || fmt.Sprint(shape) != "[2 4]" {
		t.Fatalf("shape %v, %v", shape, err)
	}
	out := newTensor(t, rt, 2, 4)
	must.Do(t, s.Run([]*ort.Tensor{in}, []*ort.Tensor{out}))
	if got := fmt.Sprint(out.Data()); got != "[0 1 2 10 3 4 5 31]" {
		t.Errorf("%s", got)
	}
	wrong := newTensor(t, rt, 2, 3, 5, 5)
	if err := s.Run([]*ort.Tensor{wrong}, []*ort.Tensor{out}); err == nil {
		t.Error("an input of the wrong shape runs")
	}
}

func newTensor(t *testing.T, rt *ort.Runtime, shape ...int64) *ort.Tensor {
	t.Helper()
	x := must.Get(rt.NewTensor(shape...))(t)
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

func TestTensorShapes(t *testing.T) {
	rt := orttest.Open(t)
	for _, shape := range [][]int64{nil, {0}, {-1, 3}, {1 << 40}, {1 << 20, 1 << 20}, {1 << 62, 4}} {
		if _, err := rt.NewTensor(shape...); err == nil {
			t.Errorf("float32 tensor %v", shape)
		}
		if _, err := rt.NewHalfTensor(shape...); err == nil {
			t.Errorf("float16 tensor %v", shape)
		}
	}
}

func TestSessionErrors(t *testing.T) {
	rt := orttest.Open(t)
	cases := []struct {
		name  string
		model []byte
		p     ort.Provider
		says  string
	}{
		{"garbage", []byte("garbage"), ort.CPU, "damaged"},
		{"empty", nil, ort.CPU, "cannot load"},
		{"future opset", readModel(t, "future"), ort.CPU, "lower opset"},
		{"unknown operator", readModel(t, "no_operator"), ort.CPU, "standard operators"},
		{"unknown provider", readModel(t, "nchw"), "abacus", "not one of cpu, cuda, coreml, openvino"},
	}
	for _, c := range cases {
		_, err := rt.NewSession(c.model, []string{"input"}, []string{"features"}, c.p)
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), ".h:") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestProviders: the ordinary library only has the CPU; another provider is an
// error that names the provider, the library and the remedy. On a machine that
// has it, a session is also fine.
func TestProviders(t *testing.T) {
	rt := orttest.Open(t)
	for _, name := range ort.Providers() {
		p := must.Get(ort.ParseProvider(name))(t)
		s, err := rt.NewSession(readModel(t, "nchw"), []string{"input"}, []string{"features"}, p)
		if err == nil {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			continue
		}
		for _, word := range []string{"provider " + name, rt.Library().Path, "use provider cpu", ort.EnvLibrary} {
			if p == ort.CPU || !strings.Contains(err.Error(), word) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// The rest of this file reruns the test binary as another process, for
// behaviour that is only visible there.
const roleVar = "ORT_TEST_ROLE"

func TestMain(m *testing.M) {
	roles := map[string]func() error{"locate": roleLocate, "noisy": roleNoisy, "open": roleOpen}
	if role := roles[os.Getenv(roleVar)]; role != nil {
		if err := role(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// roleLocate prints whether searching for the library has loaded it.
func roleLocate() error {
	if _, _, err := ort.Locate(""); err != nil {
		return err
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return err
	}
	if bytes.Contains(maps, []byte("onnxruntime.so")) {
		return fmt.Errorf("Locate loaded the library")
	}
	return nil
}

// roleNoisy does things that make the library log.
func roleNoisy() error {
	lib, _, err := ort.Locate("")
	if err != nil {
		return err
	}
	rt, err := ort.Open(lib)
	if err != nil {
		return err
	}
	if _, err := rt.NewSession([]byte("garbage"), []string{"i"}, []string{"o"}, ort.CPU); err == nil {
		return fmt.Errorf("garbage loads")
	}
	if s, err := rt.NewSession([]byte("garbage"), []string{"i"}, []string{"o"}, ort.CUDA); err == nil {
		return s.Close()
	}
	return nil
}

func roleOpen() error {
	_, err := ort.Open(ort.Library{Path: os.Getenv(ort.EnvLibrary)})
	return err
}

// again runs this binary in a role, with its own home folder and outside CI.
func again(t *testing.T, role, library string) (stdout, stderr, home string, err error) {
	t.Helper()
	home = t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = []string{roleVar + "=" + role, "HOME=" + home, ort.EnvLibrary + "=" + library, "PATH=" +
		os.Getenv("PATH")}
	var out, errOut strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err = cmd.Run()
	return out.String(), errOut.String(), home, err
}

func TestLocateLoadsNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	lib := orttest.Open(t).Library().Path
	if out, errOut, _, err := again(t, "locate", lib); err != nil {
		t.Errorf("%v: %s%s", err, out, errOut)
	}
}

// TestQuietAndPrivate: nothing on stderr, and nothing in the home folder, where
// the library would otherwise put a device id and a telemetry database.
func TestQuietAndPrivate(t *testing.T) {
	lib := orttest.Open(t).Library().Path
	out, errOut, home, err := again(t, "noisy", lib)
	if err != nil || errOut != "" {
		t.Errorf("%v: %s%s", err, out, errOut)
	}
	entries, err := os.ReadDir(home)
	if err != nil || len(entries) != 0 {
		t.Errorf("left in the home folder: %v, %v", entries, err)
	}
}

// TestOpenDamagedLibrary: a library that would kill the process that loads it
// is an error.
func TestOpenDamagedLibrary(t *testing.T) {
	whole := orttest.Open(t).Library().Path
	for _, size := range []int64{0, 100, 4096, 1 << 20, 10 << 20} {
		path := truncatedCopy(t, whole, size)
		out, errOut, _, err := again(t, "open", path)
		if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 1 || !strings.Contains(out, path) {
			t.Errorf("%d bytes: %v: %s%s", size, err, out, errOut)
		}
	}
}

func truncatedCopy(t *testing.T, whole string, size int64) string {
	t.Helper()
	in := must.Get(os.Open(whole))(t)
	defer in.Close()
	path := filepath.Join(t.TempDir(), "libonnxruntime.so")
	out := must.Get(os.Create(path))(t)
	must.Get(io.CopyN(out, in, size))(t)
	must.Do(t, out.Close())
	return path
}

// TestNetworkThatTakesTheMachine: what is more than the machine has is refused before the
// system is asked, which may promise it and end the process later.
func TestNetworkThatTakesTheMachine(t *testing.T) {
	total := hostmem.Total()
	if total == 0 {
		t.Skip("how much memory there is is not known here")
	}
	g := onnx.NewGraph("")
	x := g.Node("ReduceMax", []string{g.Input("x", onnx.Float32, 4)}, onnx.Int("keepdims", 1))
	g.Output("y", g.Op("Expand", x, g.Int64s(total/4, 2)), onnx.Float32, onnx.Free, 2)
	model := must.Get(g.Model("test", nil))(t)
	rt := orttest.Open(t)
	s := must.Get(rt.NewSession(model, []string{"x"}, []string{"y"}, ort.CPU))(t)
	in := must.Get(rt.NewTensor(4))(t)
	if _, err := s.Shape(in); err == nil || !strings.Contains(err.Error(), "three quarters of the memory") {
		t.Error(err)
	}
	if err := errors.Join(in.Close(), s.Close()); err != nil {
		t.Error(err)
	}
}
