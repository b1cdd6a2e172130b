package preprocess

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/shared"
)

// bmpOf returns a file: header is the size of its second header, more follows what that
// has in common with Windows 3's.
func bmpOf(header, width, height, depth int, compression uint32, more, palette, data []byte) []byte {
	le := binary.LittleEndian
	var info []byte
	if info = le.AppendUint32(info, uint32(header)); header == bmpOldHeader {
		for _, v := range []int{width, height, 1, depth} {
			info = le.AppendUint16(info, uint16(v))
		}
	} else {
		info = le.AppendUint32(le.AppendUint32(info, uint32(width)), uint32(int32(height)))
		info = le.AppendUint16(le.AppendUint16(info, 1), uint16(depth))
		info = append(le.AppendUint32(info, compression), make([]byte, 20)...)
		info = append(info, more...)
		info = append(info, make([]byte, max(0, header-len(info)))...)
	}
	out := append([]byte("BM\x00\x00\x00\x00\x00\x00\x00\x00"), 0, 0, 0, 0)
	le.PutUint32(out[10:], uint32(bmpFileHeader+len(info)+len(palette)))
	return bytes.Join([][]byte{out, info, palette, data}, nil)
}

func masksOf(masks ...uint32) (b []byte) {
	for _, m := range masks {
		b = binary.LittleEndian.AppendUint32(b, m)
	}
	return b
}

// TestBMPOfAllKinds: each file shows red, green over blue, white.
func TestBMPOfAllKinds(t *testing.T) {
	const red, green, blue, white = "\x00\x00\xff", "\x00\xff\x00", "\xff\x00\x00", "\xff\xff\xff"
	rows24 := []byte(blue + white + "\x00\x00" + red + green + "\x00\x00")
	down24 := []byte(red + green + "\x00\x00" + blue + white + "\x00\x00")
	rows32 := []byte(blue + "\x00" + white + "\x00" + red + "\x00" + green + "\x00")
	rows555 := []byte("\x1f\x00\xff\x7f\x00\x7c\xe0\x03")
	rows565 := []byte("\x1f\x00\xff\xff\x00\xf8\xe0\x07")
	palette := []byte(red + "\x00" + green + "\x00" + blue + "\x00" + white + "\x00")
	rgb, bgr := masksOf(0xff0000, 0xff00, 0xff), masksOf(0xff, 0xff00, 0xff0000)
	alpha := masksOf(0xff0000, 0xff00, 0xff, 0xff000000)
	opaque := []byte(blue + "\xff" + "\x00\x00\x00\x00" + red + "\xff" + green + "\xff") // white by alpha
	want := []byte{255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255}
	files := map[string][]byte{
		"OS/2 1": bmpOf(12, 2, 2, 24, 0, nil, nil, rows24),
		"OS/2 1, palette": bmpOf(12, 2, 2, 8, 0, nil, []byte(red+green+blue+white),
			[]byte("\x02\x03\x00\x00\x00\x01\x00\x00")),
		"OS/2 2, short": bmpOf(16, 2, 2, 24, 0, nil, nil, rows24),
		"OS/2 2":        bmpOf(64, 2, 2, 24, 0, nil, nil, rows24),
		"upside down":   bmpOf(40, 2, -2, 24, 0, nil, nil, down24),
		"32 bits":       bmpOf(40, 2, 2, 32, 0, nil, nil, rows32),
		"16 bits":       bmpOf(40, 2, 2, 16, 0, nil, nil, rows555),
		"masks behind":  bmpOf(40, 2, 2, 16, 3, masksOf(0xf800, 0x7e0, 0x1f), nil, rows565),
		"masks 52":      bmpOf(52, 2, 2, 16, 3, masksOf(0xf800, 0x7e0, 0x1f), nil, rows565),
		"masks 56":      bmpOf(56, 2, 2, 32, 3, append(rgb, 0, 0, 0, 0), nil, rows32),
		"masks exchanged": bmpOf(56, 2, -2, 32, 3, bgr, nil,
			[]byte(blue+"\x00"+green+"\x00"+red+"\x00"+white+"\x00")),
		"version 4":         bmpOf(108, 2, 2, 24, 0, nil, nil, rows24),
		"version 5, masks":  bmpOf(124, 2, 2, 32, 3, append(rgb, 0, 0, 0, 0), nil, rows32),
		"version 5, alpha":  bmpOf(124, 2, 2, 32, 3, alpha, nil, opaque),
		"palette of 4 bits": bmpOf(40, 2, 2, 4, 0, nil, palette, []byte("\x23\x00\x00\x00\x01\x00\x00\x00")),
		"palette of 2 bits": bmpOf(40, 2, 2, 2, 0, nil, palette, []byte("\xb0\x00\x00\x00\x10\x00\x00\x00")),
		"run length 8": bmpOf(40, 2, 2, 8, 1, nil, palette,
			[]byte("\x01\x02\x01\x03\x00\x00\x01\x00\x01\x01\x00\x01")),
		"run length 4": bmpOf(40, 2, 2, 4, 2, nil, palette, []byte("\x02\x23\x00\x00\x02\x01\x00\x01")),
		"run length, moves": bmpOf(40, 2, 2, 8, 1, nil, palette,
			[]byte("\x01\x02\x01\x03\x00\x02\x00\x00\x00\x00\x00\x02\x01\x00\x01\x01\x00\x01")),
	}
	for name, file := range files {
		m, err := Decode(t.Context(), file, DefaultBudget(), true)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !bytes.Equal(m.Pix, want) {
			t.Errorf("%s: %v, want %v", name, m.Pix, want)
		}
	}
}

func TestBMPCut(t *testing.T) {
	data := make([]byte, 20*4*3)
	for cut, want := range map[int]error{0: nil, 12: nil, 60: nil, 72: ErrTruncated, 200: ErrTruncated} {
		remarked := false
		ctx := WithRemarks(t.Context(), func(r Remark) { remarked = r == RemarkEnd })
		file := bmpOf(40, 4, 20, 24, 0, nil, nil, data[:len(data)-cut])
		if _, err := Decode(ctx, file, DefaultBudget(), true); !errors.Is(err, want) {
			t.Errorf("%d bytes less: %v, want %v", cut, err, want)
		}
		if remarked != (cut > 0 && want == nil) {
			t.Errorf("%d bytes less: remarked %t", cut, remarked)
		}
	}
}

func TestBMPRefused(t *testing.T) {
	for name, file := range map[string][]byte{
		"a JPEG inside": bmpOf(40, 2, 2, 0, 4, nil, nil, []byte("\xff\xd8\xff")),
		"64 bits":       bmpOf(40, 2, 2, 64, 0, nil, nil, make([]byte, 64)),
		"no size":       bmpOf(40, 0, 2, 24, 0, nil, nil, nil),
	} {
		if _, err := Decode(context.Background(), file, DefaultBudget(), true); !hasKind(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func sharedFile(t *testing.T, parts ...string) []byte {
	t.Helper()
	return must.Get(os.ReadFile(filepath.Join(parts...)))(t)
}

// TestCaseOfBMPHeaders compares the files with the same picture as PNG.
func TestCaseOfBMPHeaders(t *testing.T) {
	dir := shared.Path(t, "cases", "09-bmp-headers")
	want := must.Get(Decode(t.Context(), sharedFile(t, dir, "same.png"), DefaultBudget(), true))(t)
	for name, most := range map[string]int{"rgb565.bmp": 8, "v3_56_byte_header.bmp": 0, "topdown_v5.bmp": 0} {
		got, err := Decode(t.Context(), sharedFile(t, dir, "in", name), DefaultBudget(), true)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i := range want.Pix {
			if d := int(got.Pix[i]) - int(want.Pix[i]); d > most || d < -most {
				t.Fatalf("%s: value %d is %d, want %d", name, i, got.Pix[i], want.Pix[i])
			}
		}
	}
}
