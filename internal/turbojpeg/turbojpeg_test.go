package turbojpeg

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Limits that the test pictures keep.
const (
	testScans  = 20
	testMemory = 64 << 20
)

// library opens the machine's library, or skips the test without one.
func library(tb testing.TB) *Decoder {
	tb.Helper()
	path, err := Locate()
	if err != nil {
		tb.Skip(err)
	}
	d, err := Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

func encoded(tb testing.TB, width, height int, grey bool) []byte {
	tb.Helper()
	var m image.Image
	if grey {
		g := image.NewGray(image.Rect(0, 0, width, height))
		for i := range g.Pix {
			g.Pix[i] = uint8(i % width * 255 / width)
		}
		m = g
	} else {
		c := image.NewRGBA(image.Rect(0, 0, width, height))
		for y := range height {
			for x := range width {
				c.SetRGBA(x, y, color.RGBA{uint8(x * 255 / width), uint8(y * 255 / height), 128, 255})
			}
		}
		m = c
	}
	var file bytes.Buffer
	if err := jpeg.Encode(&file, m, &jpeg.Options{Quality: 95}); err != nil {
		tb.Fatal(err)
	}
	return file.Bytes()
}

// TestScalesAgree: every scale shows the same gradients, even at odd sizes.
func TestScalesAgree(t *testing.T) {
	d := library(t)
	if len(d.ID()) != 8 {
		t.Errorf("ID %q", d.ID())
	}
	for _, size := range [][2]int{{64, 48}, {1, 1}, {9, 7}, {333, 121}} {
		file := encoded(t, size[0], size[1], false)
		for _, by := range []int{1, 2, 4, 8} {
			w, h := scaled(size[0], by), scaled(size[1], by)
			dst := make([]byte, 3*w*h)
			if err := d.Decode(dst, file, size[0], size[1], by, testScans, testMemory); err != nil {
				t.Fatalf("%v at 1/%d: %v", size, by, err)
			}
			for y := range h {
				for x := range w {
					red, want := int(dst[3*(y*w+x)]), min(255, (2*x+1)*by*255/2/size[0])
					if size[0] > 60 && (x+1)*by < size[0] && (red < want-12 || red > want+12) {
						t.Fatalf("%v at 1/%d: red at %d,%d is %d, want about %d", size, by, x, y, red, want)
					}
				}
			}
		}
	}
	dst := make([]byte, 3*64*48)
	if err := d.Decode(dst, encoded(t, 64, 48, true), 64, 48, 1, testScans, testMemory); err != nil ||
		dst[3*32] != dst[3*32+1] {
		t.Errorf("grey: %v, pixel %v", err, dst[3*32:3*33])
	}
}

// TestDamage: any bytes give a picture or an error.
func TestDamage(t *testing.T) {
	d := library(t)
	file := encoded(t, 100, 80, false)
	rng := rand.New(rand.NewPCG(1, 2))
	dst := make([]byte, 3*100*80)
	for range 2000 {
		bad := bytes.Clone(file)
		for range 1 + rng.IntN(8) {
			bad[rng.IntN(len(bad))] = byte(rng.IntN(256))
		}
		if err := d.Decode(dst, bad[:1+rng.IntN(len(bad))], 100, 80, 1, testScans, testMemory); err != nil &&
			!errors.Is(err, ErrDecode) {
			t.Fatal(err)
		}
	}
	for name, err := range map[string]error{
		"nothing": d.Decode(dst, nil, 100, 80, 1, testScans, testMemory),
		"text":    d.Decode(dst, []byte("no picture"), 100, 80, 1, testScans, testMemory),
		"a third": d.Decode(dst, file, 100, 80, 3, testScans, testMemory), "short dst": d.Decode(dst[:9], file, 100, 80,
			1, testScans, testMemory), "no size": d.Decode(nil, file, 0, 80, 1, testScans, testMemory),
		"cut":  d.Decode(dst, file[:len(file)/2], 100, 80, 1, testScans, testMemory),
		"huge": d.Decode(nil, file, 1<<31, 1<<31, 1, testScans, testMemory),
	} {
		if !errors.Is(err, ErrDecode) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLimits: version 3 itself refuses too many scans.
func TestLimits(t *testing.T) {
	d := library(t)
	if d.set == nil {
		t.Skip("this version has no limit below 500 scans")
	}
	file, err := os.ReadFile("../../preprocess/testdata/images/progressive.jpg")
	if err != nil {
		t.Fatal(err)
	}
	c, err := jpeg.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]byte, 3*c.Width*c.Height)
	if err := d.Decode(dst, file, c.Width, c.Height, 1, testScans, testMemory); err != nil {
		t.Errorf("within the limits: %v", err)
	}
	if err := d.Decode(dst, file, c.Width, c.Height, 1, 2, testMemory); !errors.Is(err, ErrDecode) {
		t.Errorf("too many scans: %v", err)
	}
}

func TestConcurrentUse(t *testing.T) {
	d := library(t)
	file := encoded(t, 320, 240, false)
	want := make([]byte, 3*160*120)
	if err := d.Decode(want, file, 320, 240, 2, testScans, testMemory); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 20 {
				dst := make([]byte, len(want))
				if err := d.Decode(dst, file, 320, 240, 2, testScans, testMemory); err != nil ||
					!bytes.Equal(dst, want) {
					t.Errorf("%v", err)
				}
			}
		})
	}
	group.Wait()
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
	if _, err := Open(text); err == nil {
		t.Error("a text file is loaded")
	}
}

func FuzzDecode(f *testing.F) {
	d := library(f)
	f.Add(encoded(f, 20, 10, false), uint8(0))
	f.Add(encoded(f, 20, 10, true), uint8(3))
	f.Fuzz(func(t *testing.T, file []byte, by uint8) {
		scale := 1 << (by % 4)
		dst := make([]byte, 3*scaled(20, scale)*scaled(10, scale))
		_ = d.Decode(dst, file, 20, 10, scale, testScans, testMemory)
	})
}
