package featdir

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/preprocess"
)

// foreign creates a feature folder from raw file contents.
func foreign(t *testing.T, npy, samples string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{embeddingsName: npy, samplesName: samples} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
	}
	return dir
}

func golden(t *testing.T, name string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(filepath.Join("testdata", name)))(t))
}

func TestReadForeign(t *testing.T) {
	want := []float32{0.5, -2, 65504, 6.103515625e-05, 5.960464477539063e-08, 0}
	for _, name := range []string{"f4.npy", "f2.npy"} {
		f, err := Read(foreign(t, golden(t, name), "\xef\xbb\xbfsession,label,x,path\r\n2,k,?,a%FF\r\n,,,\"b\nc\"\r\n"))
		if err != nil {
			t.Fatal(err)
		}
		if f.X.Rows != 2 || f.X.Cols != 3 || f.X.Stride != 3 || !slices.Equal(f.X.Data, want) {
			t.Errorf("%s: %+v", name, f.X)
		}
		if want := []dataset.Sample{{Path: "a%FF", Label: "k", Session: "2"}, {Path: "b\nc"}}; !slices.Equal(f.Samples,
			want) {
			t.Errorf("samples %+v, want %+v", f.Samples, want)
		}
		if !reflect.DeepEqual(f.Provenance, embedding.Provenance{Dim: 3}) {
			t.Error("provenance out of nothing")
		}
	}
}

// testdata/make_npy.py prints the digest of NumPy's conversion of every finite
// float16, in the order of their bits.
func TestFloat16(t *testing.T) {
	const want = "cb34a8c3b8855f6ca5a3c91b264f3bf21176b2e1d85203a881efb0cabe2d5c80"
	digest := sha256.New()
	for bits := range 1 << 16 {
		if v := float16(uint16(bits)); finite(v) {
			binary.Write(digest, binary.LittleEndian, v)
		}
	}
	if got := hex.EncodeToString(digest.Sum(nil)); got != want {
		t.Errorf("digest %s, NumPy's is %s", got, want)
	}
	if !math.IsInf(float64(float16(0xfc00)), -1) || !math.IsNaN(float64(float16(0x7e01))) {
		t.Error("Inf, NaN")
	}
}

// TestReadWithoutLabels: rows need no labels, nor even paths.
func TestReadWithoutLabels(t *testing.T) {
	dir := foreign(t, golden(t, "f4.npy"), "path\na\nb\n")
	for _, want := range [][]dataset.Sample{{{Path: "a"}, {Path: "b"}}, {{Path: "0"}, {Path: "1"}}} {
		f, err := Read(dir)
		if err != nil || !slices.Equal(f.Samples, want) || f.X.Rows != 2 {
			t.Errorf("%v, %v; want %v", f.Samples, err, want)
		}
		if err := os.Remove(filepath.Join(dir, samplesName)); err != nil && f.Samples[0].Path == "a" {
			t.Fatal(err)
		}
	}
}

func TestReadErrors(t *testing.T) {
	good := golden(t, "f4.npy")
	two := "path,label\na,k\nb,k\n"
	nan := []byte(good)
	copy(nan[len(nan)-8:], "\x00\x00\xc0\x7f")
	for name, c := range map[string]struct{ npy, samples, want string }{
		"f8":          {golden(t, "f8.npy"), two, `dtype "<f8", need float32`},
		"big endian":  {golden(t, "big_endian.npy"), two, `np.save`},
		"fortran":     {golden(t, "fortran.npy"), two, "Fortran order"},
		"one dim":     {golden(t, "one_dimension.npy"), two, "two dimensions"},
		"truncated":   {good[:len(good)-1], two, "truncated"},
		"too long":    {good + "x", two, "damaged"},
		"cut header":  {good[:50], two, "truncated .npy header"},
		"not npy":     {"hello", two, "not a .npy file"},
		"empty":       {"", two, "not a .npy file"},
		"absurd":      {strings.Replace(good, "(2, 3)", "(2147483647, 2147483647)", 1), two, "truncated"},
		"absurd zero": {strings.Replace(good, "(2, 3)", "(0, 2147483647)", 1), "path,label\n", "damaged"},
		"size 0":      {strings.Replace(good, "(2, 3)", "(2, 0)", 1), two, "size 0"},
		"negative":    {strings.Replace(good, "(2, 3)", "(-2, -3)", 1), two, "impossible shape"},
		"rows":        {good, "path,label\na,k\n", "2 rows, but samples.csv has 1"},
		"NaN":         {string(nan), two, "row 2 of 2 (b), value 2 is NaN"},
		"no path":     {good, "label\na\nb\n", `no column "path"`},
		"no header":   {good, "", "first line must name the columns"},
		"ragged":      {good, "path,label\na\n", "wrong number of fields"},
		"no rows":     {string(formatNpyHeader(0, 3)), "path,label\n", "no rows"},
	} {
		if _, err := Read(foreign(t, c.npy, c.samples)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := Read(filepath.Join(t.TempDir(), "gone")); !errors.Is(err, dataset.ErrNoRoot) {
		t.Error(err)
	}
	if _, err := Read(t.TempDir()); err == nil || !strings.Contains(err.Error(), "a feature folder holds") {
		t.Error(err)
	}
}

func TestReadMetaErrors(t *testing.T) {
	for meta, want := range map[string]string{
		"{": "meta.json: not valid", `{"format":99}`: "newer", `{"dimension":4}`: "says dimension 4",
		strings.Repeat(" ", maxMetaBytes+1): "too long",
	} {
		dir := foreign(t, golden(t, "f4.npy"), "path,label\na,k\nb,k\n")
		must.Do(t, os.WriteFile(filepath.Join(dir, metaName), []byte(meta), 0o644))
		if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %q", meta, err, want)
		}
	}
}

func oddSamples() []dataset.Sample {
	return []dataset.Sample{
		{Path: "=cmd|x.jpg", Label: "+1"},
		{Path: "caf\xe9/a,\"b\".jpg", Label: "caf\xe9", Split: "test", Session: "3"},
		{Path: "line\nbreak\r\n.jpg"},
		{Path: "#no comment", Label: "#"},
		{Path: "50%25.jpg"},
		{Path: ` \. `},
	}
}

func writeFeatures(t *testing.T, path string, samples []dataset.Sample, from embedding.Provenance) {
	t.Helper()
	w := must.Get(NewWriter(path, from))(t)
	defer w.Abort()
	row := make([]float32, from.Dim)
	for i, s := range samples {
		for j := range row {
			row[j] = float32(i) + float32(j)/8
		}
		must.Do(t, w.Write(s, row))
	}
	must.Do(t, w.Close())
}

func TestWriterRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "feat")
	spec := must.Get(preprocess.Preset("imagenet"))(t)
	meta := embedding.Provenance{
		ToolVersion: "1", Backbone: embedding.Backbone{Name: "b", SHA256: "ab"}, ExtractorFingerprint: "ef",
		Extractor: []byte(`{"token":1}`), Dim: 5,
		Preprocess: &spec, PreprocessFingerprint: "cd",
	}
	writeFeatures(t, path, []dataset.Sample{{Path: "old"}}, meta)
	writeFeatures(t, path, oddSamples(), meta) // replaces
	f := must.Get(Read(path))(t)
	if want := oddSamples(); !slices.Equal(f.Samples, want) {
		t.Errorf("samples %+v, want %+v", f.Samples, want)
	}
	if f.X.Rows != 6 || f.X.Data[5*5+4] != 5.5 {
		t.Errorf("X %+v", f.X)
	}
	if got := f.Provenance; got.Backbone != meta.Backbone || got.Dim != 5 || got.PreprocessFingerprint != "cd" ||
		*got.Preprocess != spec {
		t.Errorf("provenance %+v", got)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func TestWriterRefusals(t *testing.T) {
	meta := embedding.Provenance{Dim: 2}
	photos := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(photos, "a.jpg"), nil, 0o644))
	if _, err := NewWriter(photos, meta); err == nil || !strings.Contains(err.Error(), "a.jpg") {
		t.Errorf("folder of photos in its place: %v", err)
	}
	if _, err := NewWriter(filepath.Join(photos, "a.jpg"), meta); err == nil {
		t.Error("file in its place")
	}
	if _, err := NewWriter(filepath.Join(photos, "new"), embedding.Provenance{}); err == nil {
		t.Error("dimension 0")
	}
	for name, row := range map[string][]float32{"size": {1}, "NaN": {1, float32(math.NaN())},
		"Inf": {1, float32(math.Inf(1))}} {
		path := filepath.Join(t.TempDir(), "feat")
		w := must.Get(NewWriter(path, meta))(t)
		if err := w.Write(dataset.Sample{Path: "x"}, row); err == nil {
			t.Errorf("%s accepted", name)
		}
		if err := w.Close(); err == nil {
			t.Errorf("%s: Close after a failed Write", name)
		}
		if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

func TestWriterAbortKeepsTheOld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "feat")
	writeFeatures(t, path, []dataset.Sample{{Path: "old"}}, embedding.Provenance{Dim: 1})
	w := must.Get(NewWriter(path, embedding.Provenance{Dim: 1}))(t)
	must.Do(t, w.Write(dataset.Sample{Path: "new"}, []float32{1}))
	w.Abort()
	f, err := Read(path)
	if err != nil || f.Samples[0].Path != "old" {
		t.Fatal(f.Samples, err)
	}
}

func TestWriterCompanions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "feat")
	for range 2 { // the second replaces the first, errors.csv included
		w := must.Get(NewWriter(path, embedding.Provenance{Dim: 1}))(t)
		must.Do(t, errors.Join(
			os.WriteFile(filepath.Join(w.TempDir(), "errors.csv"), []byte("path,error\n"), 0o644),
			w.Write(dataset.Sample{Path: "a"}, []float32{1}),
			w.Close()))
	}
	must.Get(os.Stat(filepath.Join(path, "errors.csv")))(t)
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"f4.npy", "f2.npy", "f8.npy", "one_dimension.npy"} {
		b := must.Get(os.ReadFile(filepath.Join("testdata", name)))(f)
		f.Add(b, []byte("path,label\na,k\nb,k\n"), []byte(`{"format":1,"dimension":3}`))
	}
	f.Add(formatNpyHeader(1<<31-1, 1<<31-1), []byte("label,path\n\"\"\"\",%FF\r\n"), []byte("{}"))
	f.Fuzz(func(t *testing.T, npy, csv, meta []byte) {
		_, metaErr := parseMeta(bytes.NewReader(meta), int64(len(meta)))
		samples, err := dataset.ReadSamples(bytes.NewReader(csv), metaErr == nil)
		if err != nil {
			samples = make([]dataset.Sample, 2)
		}
		h, err := readNpyHeader(bytes.NewReader(npy), int64(len(npy)))
		if err != nil || h.n != len(samples) {
			return
		}
		if h.n*h.d > len(npy) {
			t.Fatalf("%d×%d values from %d bytes", h.n, h.d, len(npy))
		}
		data := make([]float32, h.n*h.d)
		if h.read(data, bytes.NewReader(npy[h.offset:]), samples) != nil {
			return
		}
		if slices.ContainsFunc(data, func(v float32) bool { return !finite(v) }) {
			t.Fatal("NaN or Inf came through")
		}
	})
}

func BenchmarkRead(b *testing.B) {
	const n, d = 10_000, 640
	path := filepath.Join(b.TempDir(), "feat")
	w := must.Get(NewWriter(path, embedding.Provenance{Dim: d}))(b)
	row := make([]float32, d)
	for i := range n {
		must.Do(b, w.Write(dataset.Sample{Path: fmt.Sprintf("c/%d.jpg", i)}, row))
	}
	must.Do(b, w.Close())
	b.Run("n=10000_d=640", func(b *testing.B) {
		b.SetBytes(4 * n * d)
		for b.Loop() {
			must.Get(Read(path))(b)
		}
	})
}
