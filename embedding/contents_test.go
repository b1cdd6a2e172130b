package embedding

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/ort/orttest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// bomb is a PNG of a few bytes that says it has 10¹⁰ pixels.
func bomb() []byte {
	header := binary.BigEndian.AppendUint32([]byte("IHDR"), 100_000)
	header = append(binary.BigEndian.AppendUint32(header, 100_000), 8, 2, 0, 0, 0)
	file := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), header...)
	return binary.BigEndian.AppendUint32(file, crc32.ChecksumIEEE(header))
}

// TestContentsFailAlone: of 64 photos in memory, those that cannot be decoded have an error, and the others
// the embedding that they have by themselves.
func TestContentsFailAlone(t *testing.T) {
	orttest.Open(t)
	e := must.Get(Open(Options{Backbone: testenv.Small(t), Cache: t.TempDir()}))(t)
	defer e.Close()
	files := make([][]byte, 64)
	for i := range files {
		picture := image.NewRGBA(image.Rect(0, 0, 32, 32))
		for at := range 32 * 32 {
			picture.Set(at%32, at/32, color.RGBA{uint8(at * i), uint8(4 * i), uint8(at), 255})
		}
		var b bytes.Buffer
		must.Do(t, jpeg.Encode(&b, picture, nil))
		files[i] = b.Bytes()
	}
	alone := must.Get(e.EmbedContents(context.Background(), files[40:41]))(t)
	bad := map[int][]byte{3: bomb(), 17: files[17][:100], 31: {}, 63: []byte("no photo")}
	for i, file := range bad {
		files[i] = file
	}
	items := must.Get(e.EmbedContents(context.Background(), files))(t)
	for i, item := range items {
		if _, isBad := bad[i]; (item.Err != nil) != isBad || (item.Vector == nil) != isBad {
			t.Errorf("photo %d: %d values, %v", i, len(item.Vector), item.Err)
		}
	}
	if !slices.Equal(items[40].Vector, alone[0].Vector) {
		t.Error("photo 40 has another embedding than by itself")
	}
}
