package preprocess

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/image/bmp"

	"github.com/seed-90d10d51/pipeline/internal/testing/imagebomb"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestCostlyHeaders: what would take time that the Budget does not count, or memory
// before it is asked, is refused by its header.
func TestCostlyHeaders(t *testing.T) {
	if testing.Short() {
		t.Skip("decodes in one goroutine")
	}
	for name, c := range map[string]struct {
		file []byte
		text string // "" if it is read
	}{
		"tall":         {imagebomb.PNG(1, longestSide+1, imagebomb.Grey, 8, false), "a side may have 1000000"},
		"wide":         {imagebomb.PNG(longestSide+1, 1, imagebomb.Grey, 8, false), "a side may have 1000000"},
		"not too tall": {imagebomb.PNG(1, longestSide, imagebomb.Grey, 8, false), ""},
		"strips":       {imagebomb.TIFF(1, mostBlocks+1, 1, 3), "65537 strips or tiles, and may have 65536"},
		"strips, with their rows elsewhere": {
			withValueElsewhere(imagebomb.TIFF(1, mostBlocks+1, 1, 3)), "65537 strips or tiles, and may have 65536"},
		"tiles":                     {imagebomb.Tiles(8200, 8200, 16), "263169 strips or tiles, and may have 65536"},
		"tiles beyond it":           {imagebomb.Tiles(8, 600_000, 1024), "preprocess.memory is 512MiB"},
		"strips of the same bytes":  {imagebomb.Shared(10, 2000, 100_000), "its header describes"},
		"bands of the same bytes":   {imagebomb.Bands(2000, 999, 100, 0), "its header describes"},
		"bands":                     {imagebomb.Bands(2000, 999, 2000, 0), "1000 bands of 2000×2000"},
		"packets of the same bytes": {imagebomb.Bands(1000, 99, 1, 60_000), "directory count"},
		"references": {
			imagebomb.Grid{Columns: 256, Rows: 256, Items: 1, Extents: 2, DataBytes: 60_000}.HEIC(),
			"double references",
		},
		"items": {
			imagebomb.Grid{Columns: 1, Rows: 1, Items: 1, Extents: 1, DataBytes: 9, Unused: 100_000}.HEIC(),
			"its header describes",
		},
		"items with the same bytes": {
			imagebomb.Grid{Columns: 128, Rows: 128, Items: 16384, Extents: 1, DataBytes: 500_000}.HEIC(),
			"its header describes",
		},
	} {
		var err error
		got := allocated(func() { _, err = Decode(t.Context(), c.file, DefaultBudget(), true) })
		refused := hasKind(err) && strings.Contains(err.Error(), c.text)
		if c.text == "" && err != nil || c.text != "" && !refused {
			t.Errorf("%s: %v", name, err)
		}
		if most := int64(64<<20 + 3*len(c.file)); got > most {
			t.Errorf("%s: %d bytes were allocated", name, got)
		}
	}
}

// withValueElsewhere gives the rows per strip twice, so that they are not in the entry
// of the tag, but where it points to.
func withValueElsewhere(file []byte) []byte {
	at := bytes.LastIndex(file, []byte{22, 1, 4, 0, 1, 0, 0, 0}) // tag 278, a value of 4 bytes
	end := len(file)
	file = append(file, file[at+8], file[at+9], file[at+10], file[at+11], 0, 0, 0, 0)
	file[at+4] = 2
	for i := range 4 {
		file[at+8+i] = byte(end >> (8 * i))
	}
	return file
}

// An ending context ends when it has been asked a number of times.
type ending struct {
	context.Context
	left int
}

func (e *ending) Err() error {
	if e.left--; e.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestWhateverUsesPixelsStops: whenever the context ends, until the last row has been
// used, so does the call, and nothing of the picture is returned.
func TestWhateverUsesPixelsStops(t *testing.T) {
	p := must.Get(New(imagenet(t), DefaultBudget()))(t)
	photo, turned := photoJPEG(t, 300, 200), readFile(t, "images", "orientation_6.jpg")
	dst := make([]float32, 3*224*224)
	for name, use := range map[string]func(context.Context) error{
		"decode": func(ctx context.Context) error {
			_, err := Decode(ctx, turned, DefaultBudget(), true)
			return err
		},
		"thumbnail": func(ctx context.Context) error {
			_, err := Thumbnail(ctx, photo, DefaultBudget(), 50)
			return err
		},
		"tensor": func(ctx context.Context) error { return p.Tensor(ctx, dst, photo) },
		"view":   func(ctx context.Context) error { return p.View(1).Tensor(ctx, dst, photo) },
	} {
		const plenty = 1 << 20
		all := &ending{t.Context(), plenty}
		if err := use(all); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		asked := plenty - all.left
		if asked < 20 { // once for each row that is used
			t.Errorf("%s: the context is asked %d times", name, asked)
		}
		for _, n := range []int{0, 1, asked / 2, asked - 1} {
			if err := use(&ending{t.Context(), n}); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: ends at the %dth of %d times: %v", name, n, asked, err)
			}
		}
	}
}

// TestDecodingStops when the context ends: before the first bytes, and in between.
func TestDecodingStops(t *testing.T) {
	if testing.Short() {
		t.Skip("decodes in one goroutine")
	}
	files := map[string][]byte{
		"interlaced.png": imagebomb.PNG(3000, 3000, imagebomb.RGBA, 16, true),
		"strips.tif":     imagebomb.TIFF(10, 500, 1, 30),
		"tiles.tif":      imagebomb.Tiles(500, 500, 16),
		"photo.jpg":      photoJPEG(t, 1000, 800),
		"grid.heic":      readFile(t, "heif", "grid_420.heic"),
		"64x48.webp":     readFile(t, "images", "64x48.webp"),
	}
	rng := rand.New(rand.NewPCG(1, 2))
	noise := image.NewPaletted(image.Rect(0, 0, 400, 400), color.Palette{color.Black, color.White})
	for i := range noise.Pix {
		noise.Pix[i] = byte(rng.IntN(2))
	}
	for name, encode := range map[string]func(*bytes.Buffer) error{
		"p.gif": func(b *bytes.Buffer) error { return gif.Encode(b, noise, nil) },
		"p.bmp": func(b *bytes.Buffer) error { return bmp.Encode(b, noise) },
	} {
		var b bytes.Buffer
		must.Do(t, encode(&b))
		files[name] = b.Bytes()
	}
	for name, file := range files {
		for _, asked := range []int{0, 1} {
			ctx := &ending{t.Context(), asked}
			if name == "64x48.webp" && asked > 0 {
				continue // it is read at once
			}
			if _, err := Decode(ctx, file, DefaultBudget(), true); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, asked %d times: %v", name, asked, err)
			}
		}
		if _, err := Decode(t.Context(), file, DefaultBudget(), true); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPackBitsIsCollected: each strip has a buffer of its own, which the estimate does
// not count twice.
func TestPackBitsIsCollected(t *testing.T) {
	const side, rows, strips = 4096, 256, 16
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	file := imagebomb.PackBits(side, side, rows)
	must.Get(Decode(t.Context(), file, DefaultBudget().Portable(), true))(t)
	runtime.ReadMemStats(&after)
	if n := after.NumForcedGC - before.NumForcedGC; n < strips*side*rows/collectBytes {
		t.Errorf("garbage of %d strips of %d bytes was collected %d times", strips, side*rows, n)
	}
}
