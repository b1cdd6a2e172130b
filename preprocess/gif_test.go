package preprocess

import (
	"bytes"
	"compress/lzw"
	"encoding/binary"
	"errors"
	"slices"
	"testing"
)

// gifFile returns a GIF of a canvas of 8×8 whose frame, of a size and flags, has some
// pixels. What comes before stands between its colours and the frame.
func gifFile(w, h, flags int, before string, pix []byte) []byte {
	out := append([]byte("GIF89a"), 8, 0, 8, 0, 0x91, 0, 0) // four colours
	out = append(out, 0, 0, 0, 80, 80, 80, 160, 160, 160, 240, 240, 240)
	out = append(append(out, before...), 0x2c, 0, 0, 0, 0)
	out = binary.LittleEndian.AppendUint16(out, uint16(w))
	out = binary.LittleEndian.AppendUint16(out, uint16(h))
	out = append(out, byte(flags), 2)
	var data bytes.Buffer
	codes := lzw.NewWriter(&data, lzw.LSB, 2)
	_, _ = codes.Write(pix) // into memory
	_ = codes.Close()
	for block := range slices.Chunk(data.Bytes(), 7) {
		out = append(append(out, byte(len(block))), block...)
	}
	return append(out, 0, 0x3b)
}

// TestSalvagedGIFs: what image/gif refuses and viewers show is read. Pixel (x, y) has colour
// y mod 4.
func TestSalvagedGIFs(t *testing.T) {
	rows := func(w, h int) (pix []byte) {
		for y := range h {
			pix = append(pix, bytes.Repeat([]byte{byte(y % 4)}, w)...)
		}
		return pix
	}
	woven := slices.Concat(rows(8, 1), bytes.Repeat([]byte{0}, 8), bytes.Repeat([]byte{2}, 16),
		bytes.Repeat([]byte{1}, 8), bytes.Repeat([]byte{3}, 8), bytes.Repeat([]byte{1}, 8), bytes.Repeat([]byte{3}, 8))
	whole := gifFile(8, 8, 0, "", rows(8, 8))
	for name, c := range map[string]struct {
		file     []byte
		want     error
		remarked bool
		rows     int // that are right
	}{
		"whole":                 {whole, nil, false, 8},
		"without a trailer":     {cut(whole, 1), nil, false, 8},
		"cut in its last block": {cut(whole, 6), nil, true, 6},
		"half":                  {share(whole, 50), ErrTruncated, false, 0},
		"too few pixels":        {gifFile(8, 8, 0, "", rows(8, 7)), nil, true, 7},
		"far too few":           {gifFile(8, 8, 0, "", rows(8, 3)), ErrTruncated, false, 0},
		"too many pixels":       {gifFile(8, 8, 0, "", rows(8, 9)), nil, false, 8},
		"larger than canvas":    {gifFile(8, 9, 0, "", rows(8, 9)), nil, false, 8},
		"wider than canvas":     {gifFile(9, 8, 0, "", rows(9, 8)), nil, false, 8},
		"zeros before it":       {gifFile(8, 8, 0, "\x00\x00", rows(8, 8)), nil, false, 8},
		"interlaced, too many":  {gifFile(8, 8, 0x40, "", append(woven, 1, 1)), nil, false, 8},
		"no frame":              {[]byte("GIF89a\x08\x00\x08\x00\x00\x00\x00;"), ErrCorrupt, false, 0},
	} {
		remarked := false
		ctx := WithRemarks(t.Context(), func(r Remark) { remarked = remarked || r == RemarkEnd })
		m, err := Decode(ctx, c.file, DefaultBudget(), true)
		if c.want == nil && err != nil || c.want != nil && !hasKind(err) || remarked != c.remarked ||
			errors.Is(c.want, ErrTruncated) && !errors.Is(err, ErrTruncated) {
			t.Errorf("%s: error %v, want %v; remarked %t", name, err, c.want, remarked)
		}
		for y := range c.rows {
			if err == nil && (m.Width != 8 || m.Height != 8 || m.Pix[3*8*y+5] != byte(80*(y%4))) {
				t.Errorf("%s: row %d of %d×%d pixels is %d", name, y, m.Width, m.Height, m.Pix[3*8*y+5])
			}
		}
	}
}
