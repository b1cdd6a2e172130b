package preprocess

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/png"
	"slices"
	"testing"

	"golang.org/x/image/tiff"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// grey16 returns a ramp of values from 0 to just below most.
func grey16(most int) *image.Gray16 {
	m := image.NewGray16(image.Rect(0, 0, 64, 8))
	for i := range 64 * 8 {
		binary.BigEndian.PutUint16(m.Pix[2*i:], uint16(i%64*most/64))
	}
	return m
}

func pngOf16(t *testing.T, m image.Image, significant ...byte) []byte {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, png.Encode(&b, m))
	if significant == nil {
		return b.Bytes()
	}
	const afterHeader = 8 + 25
	chunk := append(binary.BigEndian.AppendUint32(nil, uint32(len(significant))), "sBIT"...)
	chunk = append(chunk, significant...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(chunk[4:]))
	return slices.Concat(b.Bytes()[:afterHeader], chunk, b.Bytes()[afterHeader:])
}

// tiffOf16 returns a TIFF file that says its largest value in place of its resolution.
func tiffOf16(t *testing.T, m image.Image, most uint16) []byte {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, tiff.Encode(&b, m, nil))
	file, le := b.Bytes(), binary.LittleEndian
	at := int(le.Uint32(file[4:]))
	for i := range int(le.Uint16(file[at:])) {
		entry := file[at+2+12*i:]
		if le.Uint16(entry) == 282 { // XResolution; x/image does not mind the order
			le.PutUint16(entry, tagMaxSampleValue)
			le.PutUint16(entry[2:], 3)
			le.PutUint32(entry[4:], 1)
			le.PutUint32(entry[8:], uint32(most))
		}
	}
	return file
}

func TestSixteenBitsThatMatter(t *testing.T) {
	for name, c := range map[string]struct {
		file     []byte
		last     byte // level of the brightest column
		remarked bool
	}{
		"16 of 16":                      {pngOf16(t, grey16(1<<16)), 252, false},
		"12 of 16, unsaid":              {pngOf16(t, grey16(1<<12)), 15, true},
		"12 of 16, sBIT":                {pngOf16(t, grey16(1<<12), 12), 252, false},
		"16 of 16, sBIT says 12":        {pngOf16(t, grey16(1<<16), 12), 252, false},
		"10 of 16, MaxSampleValue":      {tiffOf16(t, grey16(1<<10), 1023), 252, false},
		"a dark photo, MaxSampleValue":  {tiffOf16(t, grey16(1<<9), 1023), 126, false},
		"16 of 16, MaxSampleValue":      {tiffOf16(t, grey16(1<<16), 65535), 252, false},
		"black":                         {pngOf16(t, grey16(0)), 0, false},
		"a quarter of the range":        {pngOf16(t, grey16(1<<15)), 126, false},
		"14 of 16, sBIT of a photo":     {pngOf16(t, grey16(1<<14), 14), 252, false},
		"sBIT of fewer than are used":   {pngOf16(t, grey16(1<<12), 9), 15, true},
		"MaxSampleValue of two samples": {tiffOf16(t, grey16(1<<12), 2), 15, true},
	} {
		remarked := false
		ctx := WithRemarks(context.Background(), func(r Remark) { remarked = remarked || r == RemarkDark })
		m, err := Decode(ctx, c.file, DefaultBudget(), true)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := m.Pix[3*63]; got != c.last || remarked != c.remarked {
			t.Errorf("%s: level %d, want %d; remarked %t, want %t", name, got, c.last, remarked, c.remarked)
		}
	}
}
