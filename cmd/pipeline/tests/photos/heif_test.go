package photos

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/embedding/featdir"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestHEICFeatures compares the features of HEIC files of all kinds with those of
// pillow-heif's pixels; what cannot be read becomes a row that says why.
func TestHEICFeatures(t *testing.T) {
	l := commandtest.New(t)
	const goldens = "../../../../preprocess/testdata/heif"
	entries := must.Get(os.ReadDir(goldens))(t)
	for _, e := range entries {
		file := must.Get(os.ReadFile(filepath.Join(goldens, e.Name())))(t)
		folder := "files"
		if strings.HasSuffix(e.Name(), ".png") {
			folder = "pixels"
		}
		l.Write(l.Path(folder, e.Name()), file)
	}
	l.Write(l.Path("files", "film.heic"),
		[]byte("\x00\x00\x00\x18ftyphevc\x00\x00\x00\x00msf1hevc\x00\x00\x00\x08moov"))
	l.Write(l.Path("files", "next.jxl"), []byte("\xff\x0a\x00\x00"))
	l.Expect(command.ExitPartial, "embed", "--images", l.Path("files"), "--out", l.Path("a"))
	l.Must("embed", "--images", l.Path("pixels"), "--out", l.Path("b"))
	errors := must.Get(os.ReadFile(l.Path("a", "errors.csv")))(t)
	for _, want := range []string{"film.heic,decode HEIC", "next.jxl,", "djxl"} {
		if !strings.Contains(string(errors), want) {
			t.Errorf("errors.csv does not have %q: %s", want, errors)
		}
	}
	if n := strings.Count(string(errors), "\n"); n != 3 {
		t.Errorf("errors.csv has %d lines: %s", n, errors)
	}
	a, b := features(t, l.Path("a")), features(t, l.Path("b"))
	var cosines []float64
	for name, x := range a {
		y, ok := b[name+".png"]
		if !ok {
			t.Errorf("%s has no golden", name)
		} else if strings.HasSuffix(name, ".heic") {
			cosines = append(cosines, cosine(x, y))
		}
	}
	slices.Sort(cosines)
	if n := len(cosines); n < 40 || cosines[0] < 0.9995 || cosines[n/2] < 0.9999 {
		t.Errorf("%d files, least cosine %.6f, median %.6f", n, cosines[0], cosines[n/2])
	} else {
		t.Logf("%d files, least cosine %.6f, median %.6f", n, cosines[0], cosines[n/2])
	}
}

func features(t *testing.T, dir string) map[string][]float32 {
	t.Helper()
	f := must.Get(featdir.Read(dir))(t)
	out := map[string][]float32{}
	for i, s := range f.Samples {
		out[s.Path] = f.X.Data[i*f.X.Stride:][:f.X.Cols]
	}
	return out
}

func cosine(x, y []float32) float64 {
	var xy, xx, yy float64
	for i := range x {
		a, b := float64(x[i]), float64(y[i])
		xy, xx, yy = xy+a*b, xx+a*a, yy+b*b
	}
	return xy / math.Sqrt(xx*yy)
}
