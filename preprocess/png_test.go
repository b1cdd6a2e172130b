package preprocess

import (
	"bytes"
	"encoding/binary"
	"image/png"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestWrongChecksums: a chunk that no pixel needs is left out if its checksum is wrong; one that pixels need
// is damage.
func TestWrongChecksums(t *testing.T) {
	var b bytes.Buffer
	must.Do(t, png.Encode(&b, photo(96, 128).nrgba()))
	good := b.Bytes()
	want := must.Get(Decode(t.Context(), good, libraries(t), true))(t)
	damaged := func(kind string, body ...byte) []byte {
		chunk := appendPNGChunk(nil, kind, body)
		chunk[len(chunk)-1]++
		return slices.Concat(good[:pngHeader], chunk, good[pngHeader:])
	}
	for name, file := range map[string][]byte{
		"transparency": damaged("tRNS", 0, 0, 0, 0, 0, 0), "gamma": damaged("gAMA", 0, 0, 0, 1),
		"text": damaged("tEXt", 'a', 0, 'b'), "profile": damaged("iCCP", 'x', 0, 0, 1, 2),
		"unknown": damaged("prVt", 1, 2, 3), "EXIF": damaged("eXIf", 'M', 'M'),
	} {
		got, err := Decode(t.Context(), file, libraries(t), true)
		if err != nil || !slices.Equal(got.nrgba().Pix, want.nrgba().Pix) {
			t.Errorf("%s: %v", name, err)
		}
	}
	header := bytes.Clone(good)
	header[pngHeader-1]++
	cut := slices.Concat(good[:pngHeader], []byte("\x7f\xff\xff\xfftEXtabc"), good[pngHeader:])
	pixels := bytes.Clone(good)
	at := bytes.Index(pixels, []byte("IDAT"))
	pixels[at+4+int(binary.BigEndian.Uint32(pixels[at-4:]))]++ // the first byte of its checksum
	for name, file := range map[string][]byte{"header": header, "length": cut, "pixels": pixels} {
		if _, err := Decode(t.Context(), file, libraries(t), true); err == nil {
			t.Errorf("%s: it is read", name)
		}
	}
	if got := must.Get(withoutDamagedChunks(good))(t); &got[0] != &good[0] {
		t.Error("a file without damage is copied")
	}
}
