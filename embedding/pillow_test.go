package embedding

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/ort/orttest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// TestFeaturesEqualPillows: files of every format have the features of the upright sRGB
// pictures that Pillow and pillow-heif make of them (preprocess/testdata). Of HEIC, which
// takes long to decode, some; not of AVIF, whose chroma Pillow upsamples differently (docs/log/heif.md).
func TestFeaturesEqualPillows(t *testing.T) {
	orttest.Open(t)
	o := DefaultOptions()
	o.Backbone, o.Cache = testenv.Small(t), t.TempDir()
	e := must.Get(Open(o))(t)
	defer e.Close()
	type golden struct {
		File, Want string
		Orient     bool
	}
	testdata := filepath.Join("..", "preprocess", "testdata")
	read := func(parts ...string) []byte {
		return must.Get(os.ReadFile(filepath.Join(append([]string{testdata}, parts...)...)))(t)
	}
	var pictures struct{ Decode []golden }
	var heif []golden
	for file, into := range map[string]any{"manifest.json": &pictures, "heif.json": &heif} {
		must.Do(t, json.Unmarshal(read(file), into))
	}
	var names []string
	var files [][]byte
	add := func(g golden, folder, wanted string) {
		names = append(names, g.File)
		files = append(files, read(folder, g.File), read(wanted, g.Want))
	}
	for _, g := range pictures.Decode {
		add(g, "images", "want")
	}
	const some = 5
	for _, g := range heif[:some] {
		add(g, "heif", "heif")
	}
	items := must.Get(e.EmbedContents(t.Context(), files))(t)
	var all []float64
	for i, name := range names {
		ours, pillows := items[2*i], items[2*i+1]
		if ours.Err != nil || pillows.Err != nil {
			t.Fatalf("%s: %v, %v", name, ours.Err, pillows.Err)
		}
		c := cosineOf(ours.Vector, pillows.Vector)
		if all = append(all, c); !(c >= 0.99) {
			t.Errorf("%s: cosine %.4f", name, c)
		}
	}
	slices.Sort(all)
	t.Logf("%d files: median %.6f, least %.6f", len(all), all[len(all)/2], all[0])
	if !(all[len(all)/2] >= 0.9995) {
		t.Errorf("median cosine %.6f", all[len(all)/2])
	}
}
