package preprocess

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/shared"
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
