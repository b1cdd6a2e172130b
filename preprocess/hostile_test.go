package preprocess

import (
	"bytes"
	"encoding/binary"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/imagebomb"
)

// resident returns a figure of this process's memory: VmRSS, now, or VmHWM, the most since it was
// last reset, which also counts what libraries take.
func resident(t *testing.T, figure string) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip(err)
	}
	m := regexp.MustCompile(figure + `:\s+(\d+) kB`).FindSubmatch(text)
	if m == nil {
		t.Skipf("no %s in /proc/self/status", figure)
	}
	kibibytes, _ := strconv.ParseInt(string(m[1]), 10, 64) // digits
	return kibibytes << 10
}

// peak returns by how much f makes the process grow at most.
func peak(t *testing.T, f func()) int64 {
	t.Helper()
	const resetPeak = "5"
	before := resident(t, "VmRSS")
	if err := os.WriteFile("/proc/self/clear_refs", []byte(resetPeak), 0); err != nil {
		t.Skip(err)
	}
	f()
	return resident(t, "VmHWM") - before
}

// TestEstimateCoversTheLibraries: what libvips and libheif take is asked of the Budget before.
func TestEstimateCoversTheLibraries(t *testing.T) {
	if testing.Short() {
		t.Skip("decodes large pictures")
	}
	b := libraries(t)
	files := matrix(t)
	for _, seeds := range []map[string][]byte{seedImages(t), heifImages(t), {
		"large.jpg":        photoJPEG(t, 4000, 3000),
		"progressive.jpg":  imagebomb.Progressive(4000, 3000, 3, 10),
		"cmyk.jpg":         imagebomb.Progressive(2000, 1500, 4, 10),
		"interlaced.png":   imagebomb.PNG(3000, 2000, imagebomb.RGBA, 16, true),
		"deep.png":         imagebomb.PNG(3000, 2000, imagebomb.RGB, 16, false),
		"one strip.tif":    imagebomb.TIFF(3000, 2000, 2000, 3*3000*2000),
		"tiles.tif":        imagebomb.Tiles(3000, 2000, 512),
		"packed strip.tif": imagebomb.PackBits(4096, 4096, 4096),
	}} {
		for name, file := range seeds {
			files[name] = file
		}
	}
	for name, file := range files {
		p, err := planFile(file, b, purpose{size: fullSize})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		const slack = 40 << 20 // of allocators, and other goroutines
		got := peak(t, func() { err = p.run(t.Context(), func(raster, format) {}) })
		if err != nil || got > p.bytes+slack {
			t.Errorf("%s: %d bytes, the estimate is %d (%v)", name, got, p.bytes, err)
		}
	}
}

// TestCostlyBoxes: whatever part of a HEIF file there is too much of, it is refused, or decoded within the Budget.
func TestCostlyBoxes(t *testing.T) {
	b := libraries(t)
	for name, g := range map[string]imagebomb.Grid{
		"items":                        {Columns: 1, Rows: 1, Items: 1, Extents: 1, DataBytes: 100, Unused: 100_000},
		"tiles":                        {Columns: 8, Rows: 8, Items: 64, Extents: 1, DataBytes: 100},
		"references":                   {Columns: 256, Rows: 256, Items: 1, Extents: 1, DataBytes: 100},
		"parts":                        {Columns: 1, Rows: 1, Items: 1, Extents: 60_000, DataBytes: 1},
		"the same bytes in many items": {Columns: 32, Rows: 32, Items: 1024, Extents: 1, DataBytes: 200_000},
		"the same bytes in parts":      {Columns: 32, Rows: 32, Items: 200, Extents: 2, DataBytes: 10_000},
		"the same bytes of AV1": {Columns: 32, Rows: 32, Items: 1024, Extents: 1, DataBytes: 200_000,
			Codec: "av01"},
	} {
		var err error
		got := peak(t, func() { _, err = Decode(t.Context(), g.HEIC(), b, true) })
		if !hasKind(err) {
			t.Errorf("%s: %v", name, err)
		}
		if got > b.Bytes() {
			t.Errorf("%s: %d bytes", name, got)
		}
	}
}

// TestManyParts: slices and frames without end, each as large as the picture says, are no picture.
func TestManyParts(t *testing.T) {
	b := libraries(t)
	for name, c := range map[string]struct {
		codec string
		part  []byte
	}{
		"slices":                               {"hvc1", []byte{0, 0, 0, 2, 1 << 1, 1}}, // with its length
		"frames":                               {"av01", []byte{6<<3 | 2, 0}},
		"frames with layers and a long length": {"av01", []byte{3<<3 | 4 | 2, 0, 0x80, 0}},
	} {
		g := imagebomb.Grid{Columns: 1, Rows: 1, Items: 1, Extents: 1, Codec: c.codec, DataBytes: 100_000 * len(c.part)}
		file := g.HEIC()
		copy(file[len(file)-g.DataBytes:], bytes.Repeat(c.part, 100_000))
		if _, err := Decode(t.Context(), file, b, true); !hasKind(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestGiantTile: a picture is as large as its tiles, whatever it says.
func TestGiantTile(t *testing.T) {
	b := libraries(t)
	for _, codec := range []string{"hvc1", "av01"} {
		g := imagebomb.Grid{Columns: 1, Rows: 1, Items: 1, Extents: 1, Codec: codec, DataBytes: 9}
		file := g.HEIC()
		at := bytes.LastIndex(file, []byte("ispe"))
		for _, width := range []uint32{1 << 16, 1<<16 + 1, 1<<31 - 1} {
			binary.BigEndian.PutUint32(file[at+8:], width)
			var err error
			got := peak(t, func() { _, err = Decode(t.Context(), file, b, true) })
			if !hasKind(err) || got > b.Bytes() {
				t.Errorf("%s, a tile %d pixels wide: %v, %d bytes", codec, width, err, got)
			}
		}
	}
}
