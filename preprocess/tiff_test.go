package preprocess

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"image/jpeg"
	"math"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/shared"
)

// More tags and their values.
const (
	tagPredictor    = 317
	tagSampleFormat = 339

	compressionJPEG    = 7
	compressionDeflate = 8
	blackIsZero        = 1
	photoRGB           = 2
	photoCMYK          = 5
	horizontal         = 2 // the predictors
	floatingPoint      = 3
	floats             = 3 // the format of samples
)

// A tiffTag has values of type LONG.
type tiffTag struct {
	number int
	values []int
}

// tiffFile returns a file of strips and tags.
func tiffFile(tags []tiffTag, strips ...[]byte) []byte {
	le := binary.LittleEndian
	var offsets, counts []int
	out := []byte("II*\x00\x00\x00\x00\x00")
	for _, s := range strips {
		offsets, counts = append(offsets, len(out)), append(counts, len(s))
		out = append(out, s...)
	}
	tags = append(slices.Clone(tags), tiffTag{tagStripOffsets, offsets}, tiffTag{tagStripByteCounts, counts})
	slices.SortFunc(tags, func(a, b tiffTag) int { return a.number - b.number })
	var entries []byte
	for _, tag := range tags {
		var values []byte
		for _, v := range tag.values {
			values = le.AppendUint32(values, uint32(v))
		}
		entries = le.AppendUint16(le.AppendUint16(entries, uint16(tag.number)), 4)
		entries = le.AppendUint32(entries, uint32(len(tag.values)))
		if len(values) > 4 {
			entries = le.AppendUint32(entries, uint32(len(out)))
			out = append(out, values...)
		} else {
			entries = append(entries, values...)
		}
	}
	le.PutUint32(out[4:], uint32(len(out)))
	return append(append(le.AppendUint16(out, uint16(len(tags))), entries...), 0, 0, 0, 0)
}

// picture returns the tags of 2×1 pixels.
func picture(bits, samples, photometric int, more ...tiffTag) []tiffTag {
	return append([]tiffTag{{tagWidth, []int{2}}, {tagHeight, []int{1}}, {tagPhotometric, []int{photometric}},
		{tagBitsPerSample, slices.Repeat([]int{bits}, samples)}, {tagSamplesPerPixel, []int{samples}}}, more...)
}

func packed(b ...byte) []byte {
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	_, _ = w.Write(b) // into memory
	_ = w.Close()
	return out.Bytes()
}

// TestTIFFBands: each file shows 10, 20, 30 and 40, 50, 60.
func TestTIFFBands(t *testing.T) {
	planar := tiffTag{tagPlanar, []int{separatePlanes}}
	deflate := tiffTag{tagCompression, []int{compressionDeflate}}
	predicted := tiffTag{tagPredictor, []int{horizontal}}
	alpha := tiffTag{tagExtraSamples, []int{straightAlpha}}
	colour, grey := []byte{10, 20, 30, 40, 50, 60}, []byte{10, 10, 10, 40, 40, 40}
	for name, c := range map[string]struct {
		file     []byte
		want     []byte
		remarked bool
	}{
		"four bands": {tiffFile(picture(8, 4, photoRGB), []byte{10, 20, 30, 99, 40, 50, 60, 98}), colour, true},
		"separate planes": {tiffFile(picture(8, 3, photoRGB, planar), []byte{10, 40}, []byte{20, 50}, []byte{30, 60}),
			colour, false},
		"separate, alpha": {tiffFile(picture(8, 4, photoRGB, planar, alpha), []byte{10, 40}, []byte{20, 50},
			[]byte{30, 60}, []byte{255, 255}), colour, false},
		"compressed": {tiffFile(picture(8, 5, photoRGB, deflate), packed(10, 20, 30, 1, 2, 40, 50, 60, 3, 4)),
			colour, true},
		"predicted": {tiffFile(picture(8, 4, photoRGB, deflate, predicted),
			packed(10, 20, 30, 1, 30, 30, 30, 1)), colour, true},
		"16 bits": {tiffFile(picture(16, 4, photoRGB),
			[]byte{7, 10, 7, 20, 7, 30, 0, 0, 7, 40, 7, 50, 7, 60, 0, 255}), colour, true},
		"grey of two":     {tiffFile(picture(8, 2, blackIsZero), []byte{10, 1, 40, 2}), grey, true},
		"inverse grey":    {tiffFile(picture(8, 2, whiteIsZero), []byte{245, 1, 215, 2}), grey, true},
		"grey with alpha": {tiffFile(picture(8, 2, blackIsZero, alpha), []byte{10, 255, 40, 255}), grey, false},
		"inks": {tiffFile(picture(8, 4, photoCMYK), []byte{245, 235, 225, 0, 215, 205, 195, 0}), colour,
			false},
		"inks and a fifth": {tiffFile(picture(8, 5, photoCMYK), []byte{245, 235, 225, 0, 9, 215, 205, 195, 0, 9}),
			colour, true},
	} {
		remarked := false
		ctx := WithRemarks(t.Context(), func(r Remark) { remarked = remarked || r == RemarkBands })
		m, err := Decode(ctx, c.file, DefaultBudget(), true)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !bytes.Equal(m.Pix, c.want) || remarked != c.remarked {
			t.Errorf("%s: %v, want %v; remarked %t", name, m.Pix, c.want, remarked)
		}
	}
}

// TestTIFFFloats: numbers of floating point, where 1, 255 or 65535 is white.
func TestTIFFFloats(t *testing.T) {
	samples := func(v ...float32) (b []byte) {
		for _, x := range v {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
		return b
	}
	format := tiffTag{tagSampleFormat, []int{floats}}
	predicted := []tiffTag{format, {tagPredictor, []int{floatingPoint}}, {tagCompression, []int{compressionDeflate}}}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	colour, greys := []byte{0, 51, 102, 153, 204, 255}, []byte{51, 51, 51, 153, 153, 153}
	rgb := picture(32, 3, photoRGB, format)
	for name, c := range map[string]struct {
		file []byte
		want []byte // nil if it is refused
	}{
		"to 1":         {tiffFile(rgb, samples(0, .2, .4, .6, .8, 1)), colour},
		"to 255":       {tiffFile(rgb, samples(0, 51, 102, 153, 204, 255)), colour},
		"to 65535":     {tiffFile(rgb, samples(0, 13107, 26214, 39321, 52428, 65535)), colour},
		"out of range": {tiffFile(rgb, samples(-1, .2, .4, .6, .8, 1.2)), colour},
		"no numbers":   {tiffFile(rgb, samples(nan, .2, .4, .6, .8, inf)), colour},
		"grey":         {tiffFile(picture(32, 1, blackIsZero, format), samples(.2, .6)), greys},
		"inverse":      {tiffFile(picture(32, 1, whiteIsZero, format), samples(.8, .4)), greys},
		"elevations":   {tiffFile(picture(32, 1, blackIsZero, format), samples(1e6, 2e6)), nil},
		"64 bits":      {tiffFile(picture(64, 1, blackIsZero, format), samples(0, 1, 2, 3)), nil},
		"four, alpha": {tiffFile(picture(32, 4, photoRGB, format, tiffTag{tagExtraSamples, []int{straightAlpha}}),
			samples(0, .2, .4, 1, .6, .8, 1, 1)), colour},
		// 0.5 and 1 are 3f000000 and 3f800000: first bytes, second bytes …, as differences.
		"predicted": {tiffFile(picture(32, 1, blackIsZero, predicted...), packed(0x3f, 0, 0xc1, 0x80, 0x80, 0, 0, 0)),
			[]byte{128, 128, 128, 255, 255, 255}},
	} {
		remarked := false
		ctx := WithRemarks(t.Context(), func(r Remark) { remarked = remarked || r == RemarkFloat })
		m, err := Decode(ctx, c.file, DefaultBudget(), true)
		switch {
		case c.want == nil && !hasKind(err):
			t.Errorf("%s: error %v", name, err)
		case c.want != nil && (err != nil || !bytes.Equal(m.Pix, c.want) || !remarked):
			t.Errorf("%s: %v, %v, want %v; remarked %t", name, m, err, c.want, remarked)
		}
	}
}

// TestTIFFJPEGDamaged: a strip that is no JPEG, or another picture's, is missing.
func TestTIFFJPEGDamaged(t *testing.T) {
	var strips [][]byte
	for range 5 {
		var b bytes.Buffer
		must.Do(t, jpeg.Encode(&b, photo(16, 16).nrgba(), nil))
		strips = append(strips, b.Bytes())
	}
	tags := []tiffTag{{tagWidth, []int{16}}, {tagHeight, []int{80}}, {tagPhotometric, []int{photoYCbCr}},
		{tagBitsPerSample, []int{8, 8, 8}}, {tagSamplesPerPixel, []int{3}}, {tagCompression, []int{compressionJPEG}},
		{tagRowsPerStrip, []int{16}}}
	for name, c := range map[string]struct {
		change func(s [][]byte)
		ok     bool
	}{
		"whole":            {func([][]byte) {}, true},
		"one is no JPEG":   {func(s [][]byte) { s[2] = []byte("nothing of that kind") }, false},
		"the last is none": {func(s [][]byte) { s[4] = []byte("nothing of that kind") }, true},
		"one is cut":       {func(s [][]byte) { s[4] = s[4][:len(s[4])/2] }, true},
		"two are no JPEG":  {func(s [][]byte) { s[1], s[2] = nil, nil }, false},
	} {
		changed := slices.Clone(strips)
		c.change(changed)
		m, err := Decode(t.Context(), tiffFile(tags, changed...), DefaultBudget(), true)
		if (err == nil) != c.ok || err != nil && !hasKind(err) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && !bytes.Equal(m.Pix[:3*16*16], m.Pix[3*16*48:3*16*64]) {
			t.Errorf("%s: equal strips show different pictures", name)
		}
	}
	for name, tag := range map[string]tiffTag{
		"larger strips": {tagRowsPerStrip, []int{8}}, "narrower": {tagWidth, []int{8}},
	} {
		changed := slices.DeleteFunc(slices.Clone(tags), func(t tiffTag) bool { return t.number == tag.number })
		if _, err := Decode(t.Context(), tiffFile(append(changed, tag), slices.Repeat(strips, 2)...), DefaultBudget(),
			true); !hasKind(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTIFFBandsDamaged(t *testing.T) {
	for name, file := range map[string][]byte{
		"no strips": tiffFile(picture(8, 4, photoRGB)),
		"beyond":    tiffFile(picture(8, 4, photoRGB, tiffTag{tagTileWidth, []int{16}}), []byte{1}),
		"not deflated": tiffFile(picture(8, 4, photoRGB, tiffTag{tagCompression, []int{compressionDeflate}}),
			[]byte{1, 2, 3}),
		"JPEG of bands": tiffFile(picture(8, 4, photoRGB, tiffTag{tagCompression, []int{7}}), []byte{1, 2, 3}),
		"huge": tiffFile(append(picture(8, 4, photoRGB)[2:], tiffTag{tagWidth, []int{1 << 30}},
			tiffTag{tagHeight, []int{1 << 30}})),
	} {
		if _, err := Decode(t.Context(), file, DefaultBudget(), true); !hasKind(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCaseOfExtraBand(t *testing.T) {
	file := sharedFile(t, shared.Path(t, "cases", "08-tiff-extra-band"), "in", "rgb_plus_nir.tif")
	remarked := false
	ctx := WithRemarks(t.Context(), func(r Remark) { remarked = r == RemarkBands })
	if _, err := Decode(ctx, file, DefaultBudget(), true); err != nil || !remarked {
		t.Errorf("error %v, remarked %t", err, remarked)
	}
}

// chromaTIFF returns a grey picture of strips of 16 rows, with one chroma for four pixels.
func chromaTIFF(width, height int) []byte {
	tags := picture(8, 3, photoYCbCr, tiffTag{tagRowsPerStrip, []int{16}},
		tiffTag{tagCompression, []int{compressionDeflate}})
	tags[0].values, tags[1].values = []int{width}, []int{height}
	strip := packed(bytes.Repeat([]byte{128}, 6*8*((width+1)/2))...)
	return tiffFile(tags, slices.Repeat([][]byte{strip}, (height+15)/16)...)
}

// TestTIFFChroma: luma and chroma without JPEG. Each file is grey but for one unit, which is red.
func TestTIFFChroma(t *testing.T) {
	subsampling := func(across, down int) tiffTag { return tiffTag{tagSubsampling, []int{across, down}} }
	chroma := func(width, height int, more ...tiffTag) []tiffTag {
		tags := picture(8, 3, photoYCbCr, more...)
		tags[0].values, tags[1].values = []int{width}, []int{height}
		return tags
	}
	red, two, four := []byte{254, 0, 0}, []byte{2, 2, 2}, []byte{4, 4, 4}
	grey := func(v byte) []byte { return []byte{v, v, v} }
	deflate := tiffTag{tagCompression, []int{compressionDeflate}}
	for name, c := range map[string]struct {
		file []byte
		want []byte
	}{
		"all samples": {tiffFile(chroma(2, 1, subsampling(1, 1)), []byte{76, 85, 255, 2, 128, 128}),
			slices.Concat(red, two)},
		"halves, by default": {tiffFile(chroma(3, 2), []byte{1, 2, 3, 4, 128, 128, 76, 0, 76, 0, 85, 255}),
			slices.Concat(grey(1), two, red, grey(3), four, red)},
		"halves across, packed": {tiffFile(chroma(2, 2, subsampling(2, 1), deflate),
			packed(2, 4, 128, 128, 76, 76, 85, 255)),
			slices.Concat(two, four, red, red)},
		"an odd height": {tiffFile(chroma(1, 3, subsampling(1, 2)), []byte{76, 76, 85, 255, 2, 9, 128, 128}),
			slices.Concat(red, red, two)},
	} {
		m, err := Decode(t.Context(), c.file, DefaultBudget(), true)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !bytes.Equal(m.Pix, c.want) {
			t.Errorf("%s: %v, want %v", name, m.Pix, c.want)
		}
	}
	if _, err := Decode(t.Context(), tiffFile(chroma(2, 1, subsampling(3, 0)), make([]byte, 9)), DefaultBudget(),
		true); err == nil {
		t.Error("three samples across are read")
	}
}
