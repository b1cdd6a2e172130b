package heif

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/mutation"
	"github.com/seed-90d10d51/pipeline/internal/quota"
)

// mostOfBoxes is enough for any of the files.
const mostOfBoxes = 1 << 20

// images returns the goldens of package preprocess.
func images(tb testing.TB) map[string][]byte {
	tb.Helper()
	files := map[string][]byte{}
	for _, pattern := range []string{"*.heic", "*.avif"} {
		paths, err := filepath.Glob(filepath.Join("../../preprocess/testdata/heif", pattern))
		if err != nil || len(paths) == 0 {
			tb.Fatalf("%v: %d files", err, len(paths))
		}
		for _, path := range paths {
			file, err := os.ReadFile(path)
			if err != nil {
				tb.Fatal(err)
			}
			files[filepath.Base(path)] = file
		}
	}
	return files
}

func parsed(tb testing.TB, name string) *Picture {
	tb.Helper()
	p, err := Parse(images(tb)[name], quota.New(mostOfBoxes))
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name          string
		width, height int
		orientation   int
		crop          Crop
		colour        Colour
		tiles, depth  int
		alpha         bool
		thumbnails    int
	}{
		{"65x49_420.heic", 66, 64, 1, Crop{0, 0, 65, 49}, Colour{6, true}, 1, 8, false, 0},
		{"grid_irot.heic", 128, 100, 6, Crop{0, 0, 128, 100}, Colour{6, true}, 4, 8, false, 0},
		{"clap_offset.heic", 96, 64, 1, Crop{36, 16, 32, 16}, Colour{6, true}, 1, 8, false, 0},
		{"matrix_9_0.heic", 72, 64, 1, Crop{0, 0, 72, 64}, Colour{9, false}, 1, 8, false, 0},
		{"alpha_full.heic", 72, 64, 1, Crop{0, 0, 72, 64}, Colour{6, true}, 1, 8, true, 0},
		{"depth_thumbnail.heic", 96, 64, 1, Crop{0, 0, 96, 64}, Colour{6, true}, 1, 8, false, 1},
		{"10_bits.heic", 64, 64, 1, Crop{0, 0, 64, 48}, Colour{6, true}, 1, 10, false, 0},
		{"several.heic", 80, 64, 1, Crop{0, 0, 80, 40}, Colour{6, true}, 1, 8, false, 0},
		{"orientation_7.avif", 60, 40, 7, Crop{0, 0, 60, 40}, Colour{6, true}, 0, 8, false, 0},
	} {
		p := parsed(t, c.name)
		if p.Width != c.width || p.Height != c.height || p.Orientation != c.orientation || p.Colour != c.colour ||
			len(p.tiles) != c.tiles || p.depth != c.depth || (p.Alpha != nil) != c.alpha ||
			len(p.Thumbnails) != c.thumbnails || p.Crop != c.crop {
			t.Errorf("%s: %+v, %d tiles of %d bits", c.name, p, len(p.tiles), p.depth)
		}
	}
}

// TestDecodersAgree on the samples, whatever the padding of rows.
func TestDecodersAgree(t *testing.T) {
	l, err := Find()
	if err != nil {
		t.Skip(err)
	}
	if l.Path() == "" || l.Version() == "" {
		t.Errorf("%q, %q", l.Path(), l.Version())
	}
	d := Portable()
	for name, file := range images(t) {
		p, err := Parse(file, quota.New(mostOfBoxes))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, c := range p.tiles {
			a, err := l.tile(t.Context(), c)
			b, err2 := d.hevc.tile(t.Context(), c, new(scratch))
			if err := errors.Join(err, err2); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if !bytes.Equal(a.Y, b.Y) || !bytes.Equal(a.Cb, b.Cb) || !bytes.Equal(a.Cr, b.Cr) {
				t.Errorf("%s: the samples differ", name)
			}
		}
	}
}

// TestSandboxIsBounded: a decoder that wants more gets nothing, and says so.
func TestSandboxIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("decodes in one goroutine")
	}
	d := Portable()
	c := parsed(t, "97x131_444.heic").tiles[0]
	err := d.hevc.run(t.Context(), new(scratch), 1<<20, func(in *instance) error {
		if _, err := in.allocate(1 << 16); err != nil {
			return fmt.Errorf("a little: %w", err)
		}
		_, err := in.allocate(1 << 22)
		return err
	})
	if !errors.Is(err, ErrMemory) {
		t.Errorf("4 MiB of 1: %v", err)
	}
	if _, err := d.hevc.tile(t.Context(), c, new(scratch)); err != nil {
		t.Errorf("the next picture: %v", err)
	}
	broken := *c
	broken.data = broken.data[:len(broken.data)/2]
	if _, err := d.hevc.tile(t.Context(), &broken, new(scratch)); err != nil && !errors.Is(err, ErrDamaged) {
		t.Errorf("half of the data: %v", err)
	}
}

// TestSequenceSizesAreChecked: a parameter set among the data that announces a
// larger picture than the first does not reach a decoder.
func TestSequenceSizesAreChecked(t *testing.T) {
	p, other := parsed(t, "64x48_444.heic"), parsed(t, "97x131_444.heic")
	var set []byte
	if err := other.tiles[0].eachNAL(func(nal []byte) error {
		if nal[0]>>1 == 33 {
			set = nal
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	c := p.tiles[0]
	data := slices.Concat([]byte{0, 0, byte(len(set) >> 8), byte(len(set))}, set, c.data)
	bad := (&coded{sequence: c.sequence, config: c.config, data: data}).file()
	if _, err := Parse(bad, quota.New(mostOfBoxes)); !errors.Is(err, ErrDamaged) ||
		!strings.Contains(err.Error(), "differ") {
		t.Errorf("%v", err)
	}
	if again, err := Parse(c.file(), quota.New(mostOfBoxes)); err != nil || again.Width != c.width ||
		!bytes.Equal(again.tiles[0].data, c.data) {
		t.Errorf("a file made for the sandbox: %v", err)
	}
}

func TestOrdersThatFail(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text.so")
	if err := os.WriteFile(text, []byte("no library"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{text, filepath.Join(t.TempDir(), "gone.so"), t.TempDir()} {
		t.Setenv(EnvLibrary, path)
		if _, err := Locate(); !errors.Is(err, ErrNoLibrary) || !strings.Contains(err.Error(), EnvLibrary) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := open(text); !errors.Is(err, ErrNoLibrary) {
		t.Errorf("a text file is loaded: %v", err)
	}
}

// known reports whether an error is one of those that Parse may return.
func known(err error) bool {
	kinds := []error{ErrDamaged, ErrUnsupported, ErrMemory, io.ErrUnexpectedEOF}
	return slices.ContainsFunc(kinds, func(kind error) bool { return errors.Is(err, kind) })
}

// TestMutatedBoxes damages the boxes, which come before the data.
func TestMutatedBoxes(t *testing.T) {
	var files [][]byte
	for _, file := range images(t) {
		files = append(files, file[:min(len(file), 1500)], file)
	}
	slices.SortFunc(files, bytes.Compare)
	mutation.Each(t, 40000, func(_ int, rng *rand.Rand) error {
		file := mutation.Inside(rng, files[rng.IntN(len(files))], files)
		if _, err := Parse(file, quota.New(mostOfBoxes)); err != nil && !known(err) {
			return fmt.Errorf("unknown kind of error: %w", err)
		}
		return nil
	})
}

func FuzzParse(f *testing.F) {
	for _, file := range images(f) {
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		p, err := Parse(file, quota.New(mostOfBoxes))
		if err != nil {
			if !known(err) {
				t.Fatalf("unknown kind of error: %v", err)
			}
			return
		}
		if p.Width < 1 || p.Height < 1 || p.Crop.X < 0 || p.Crop.Y < 0 || p.Crop.Width < 1 || p.Crop.Height < 1 ||
			p.Crop.X+p.Crop.Width > p.Width || p.Crop.Y+p.Crop.Height > p.Height || p.Bytes() < startBytes {
			t.Fatalf("%+v", p)
		}
	})
}
