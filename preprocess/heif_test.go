package preprocess

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// A heifCase is a golden that testdata/make_heif.py made.
type heifCase struct {
	File, Want string
	Levels     int
}

func heifCases(tb testing.TB) (cases []heifCase) {
	tb.Helper()
	must.Do(tb, json.Unmarshal(readFile(tb, "heif.json"), &cases))
	return cases
}

func heifImages(tb testing.TB) map[string][]byte {
	tb.Helper()
	files := map[string][]byte{}
	for _, c := range heifCases(tb) {
		files[c.File] = readFile(tb, "heif", c.File)
	}
	return files
}

// TestHEIFEqualsPillow compares with pillow-heif, and with Pillow's decoder of AVIF.
func TestHEIFEqualsPillow(t *testing.T) {
	b := libraries(t)
	for _, c := range heifCases(t) {
		img, err := Decode(t.Context(), readFile(t, "heif", c.File), b, true)
		if err != nil {
			t.Errorf("%s: %v", c.File, err)
			continue
		}
		want := wantedHEIF(t, c.Want)
		if img.Width != want.Width || img.Height != want.Height {
			t.Errorf("%s: %d×%d pixels, want %d×%d", c.File, img.Width, img.Height, want.Width, want.Height)
		} else if d := largestDifference(img.Pix, want.Pix); d > c.Levels {
			t.Errorf("%s: differs by %d levels, allowed are %d", c.File, d, c.Levels)
		}
	}
}

func wantedHEIF(tb testing.TB, name string) *Image { return wanted(tb, "../heif/"+name) }

// TestHEIFRefusals: what is refused before decoding, and why.
func TestHEIFRefusals(t *testing.T) {
	b := DefaultBudget()
	grid, one, avif := readFile(t, "heif", "grid_420.heic"), readFile(t, "heif", "irot_1.heic"),
		readFile(t, "heif", "444.avif")
	replaced := func(file []byte, old, by string) []byte {
		if !bytes.Contains(file, []byte(old)) {
			t.Fatalf("no %q to replace", old)
		}
		return bytes.Replace(file, []byte(old), []byte(by), 1)
	}
	huge := func(file []byte) []byte {
		file = slices.Clone(file)
		at := bytes.Index(file, []byte("ispe"))
		binary.BigEndian.PutUint32(file[at+8:], 1<<30)
		return file
	}
	for _, c := range []struct {
		name string
		file []byte
		want error
		text string
	}{
		{"cut", one[:len(one)-10], ErrTruncated, "copy the file again"},
		{"a grid without its last tile", grid[:len(grid)-10], ErrTruncated, ""},
		{"no boxes", []byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic"), ErrCorrupt, "too small"},
		{"film", []byte("\x00\x00\x00\x18ftyphevc\x00\x00\x00\x00msf1hevc\x00\x00\x00\x08moov"), ErrCorrupt,
			"nsufficient"},
		{"H.264", replaced(one, "hvc1", "avc1"), ErrCorrupt, "box"},
		{"no configuration", replaced(one, "hvcC", "free"), ErrCorrupt, "hvcC"},
		{"no size", replaced(one, "ispe", "free"), ErrCorrupt, "ispe"},
		{"overlay", replaced(grid, "grid", "iovl"), ErrCorrupt, "verlay"},
		{"tiles too few", replaced(grid, "dimg", "free"), ErrCorrupt, "grid"},
		{"unknown colours", replaced(one, "nclx\x00\x01\x00\x0d\x00\x06", "nclx\x00\x01\x00\x0d\x00\x0e"), ErrFormat,
			"color conversion"},
		{"huge AVIF", huge(avif), ErrCorrupt, "none of its pixels"},
	} {
		_, err := Decode(t.Context(), c.file, b, true)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	small, _ := NewBudget(leastMemory)
	if _, err := Decode(t.Context(), one, small, true); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a small budget: %v", err)
	}
}

// TestTruncatedHEIF: whatever is missing, the error says so or, inside of a
// box, that the file is damaged.
func TestTruncatedHEIF(t *testing.T) {
	b := DefaultBudget()
	for _, name := range []string{"grid_420.heic", "alpha_full.heic", "alpha.avif", "several.heic"} {
		file := readFile(t, "heif", name)
		for cut := 1; cut < len(file); cut += 1 + len(file)/97 {
			if _, err := Decode(t.Context(), file[:cut], b, true); err != nil && !hasKind(err) {
				t.Errorf("%s cut at %d: %v", name, cut, err)
			}
		}
	}
}

// TestStoredThumbnail: taken if asked for and large enough, upright.
func TestStoredThumbnail(t *testing.T) {
	b := DefaultBudget()
	for _, c := range []struct {
		file                string
		side, width, height int
	}{
		{"grid_thumbnail.heic", 0, 112, 126}, {"grid_thumbnail.heic", 65, 112, 126},
		{"grid_thumbnail.heic", 64, 64, 72},
		{"depth_thumbnail.heic", 10, 96, 64}, // has another shape
		{"irot_1.heic", 10, 64, 96},
	} {
		p := must.Get(planFile(readFile(t, "heif", c.file), b, purpose{side: c.side}))(t)
		err := p.run(t.Context(), func(r raster, _ format) {
			if w, h := r.size(); w != c.width || h != c.height || p.width != w || p.height != h {
				t.Errorf("%s for %d: %d×%d pixels, planned %d×%d", c.file, c.side, w, h, p.width, p.height)
			}
		})
		if err != nil {
			t.Errorf("%s for %d: %v", c.file, c.side, err)
		}
	}
	s := imagenet(t)
	with := s
	with.HEIFThumbnail = true
	if s.Fingerprint() == with.Fingerprint() {
		t.Error("thumbnails have the same fingerprint")
	}
	s.Size, s.Crop, with.Size, with.Crop = 60, 60, 60, 60
	plain, thumbnail := make([]float32, 3*60*60), make([]float32, 3*60*60)
	file := readFile(t, "heif", "grid_thumbnail.heic")
	for dst, spec := range map[*[]float32]Spec{&plain: s, &thumbnail: with} {
		p := must.Get(New(spec, b))(t)
		must.Do(t, p.Tensor(t.Context(), *dst, file))
	}
	if slices.Equal(plain, thumbnail) { // they show different pictures
		t.Error("the setting has no effect")
	}
}

// FuzzHEIF leaves out AVIF: under the fuzzer, compiling its decoder takes minutes.
func FuzzHEIF(f *testing.F) {
	for name, file := range heifImages(f) {
		if strings.HasSuffix(name, ".heic") {
			f.Add(file)
		}
	}
	b := fuzzBudget()
	f.Fuzz(func(t *testing.T, file []byte) {
		img, err := Decode(t.Context(), file, b, true)
		if err != nil {
			if !hasKind(err) {
				t.Fatalf("unknown kind of error: %v", err)
			}
			return
		}
		must.Do(t, img.check())
	})
}

// photoHEIC returns the file that HEIC_PHOTO names, such as a photo of a
// telephone.
func photoHEIC(tb testing.TB) []byte {
	tb.Helper()
	path := os.Getenv("HEIC_PHOTO")
	if path == "" {
		tb.Skip("HEIC_PHOTO names no photo")
	}
	return must.Get(os.ReadFile(filepath.Clean(path)))(tb)
}

func BenchmarkTensorHEIC(b *testing.B) {
	file := photoHEIC(b)
	dst := make([]float32, 3*224*224)
	thumbnail := imagenet(b)
	thumbnail.HEIFThumbnail = true
	for _, c := range []struct {
		name   string
		spec   Spec
		budget *Budget
	}{{"machine", imagenet(b), libraries(b)}, {"thumbnail", thumbnail, libraries(b)}} {
		p := must.Get(New(c.spec, c.budget))(b)
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				must.Do(b, p.Tensor(b.Context(), dst, file))
			}
		})
	}
}
