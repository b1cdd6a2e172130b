package preprocess

import (
	"bytes"
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/disintegration/imaging"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestReorientAgreesWithImaging uses an independent implementation.
func TestReorientAgreesWithImaging(t *testing.T) {
	same := func(m image.Image) *image.NRGBA { return imaging.Clone(m) }
	turns := map[int]func(image.Image) *image.NRGBA{
		0: same, 1: same, 9: same,
		2: imaging.FlipH, 3: imaging.Rotate180, 4: imaging.FlipV,
		5: imaging.Transpose, 6: imaging.Rotate270, 7: imaging.Transverse, 8: imaging.Rotate90,
	}
	for _, size := range [][2]int{{1, 1}, {1, 7}, {70, 33}, {64, 32}} {
		img := photo(size[0], size[1])
		for o, turn := range turns {
			want := turn(img.nrgba())
			got := upright(img, o).nrgba()
			if got.Rect != want.Rect || !bytes.Equal(got.Pix, want.Pix) {
				t.Errorf("%v, orientation %d differs", size, o)
			}
		}
	}
}

func TestOrientationSwitch(t *testing.T) {
	file := readFile(t, "images", "orientation_6.jpg")
	for _, on := range []bool{false, true} {
		img := must.Get(Decode(t.Context(), file, DefaultBudget(), on))(t)
		if turned := img.Height > img.Width; turned != on {
			t.Errorf("orientation %t: %d×%d pixels", on, img.Width, img.Height)
		}
	}
}

// TestSize is that of the decoded picture, whatever the format and the orientation.
func TestSize(t *testing.T) {
	entries := must.Get(os.ReadDir(filepath.Join("testdata", "images")))(t)
	checked := map[bool]int{}
	for _, e := range entries {
		file := readFile(t, "images", e.Name())
		img, err := Decode(t.Context(), file, DefaultBudget(), true)
		if err != nil {
			continue // a broken one
		}
		w, h, err := Size(file, DefaultBudget())
		if err != nil || w != img.Width || h != img.Height {
			t.Errorf("%s: %d×%d (%v), want %d×%d", e.Name(), w, h, err, img.Width, img.Height)
		}
		for n := 0; n <= len(file); n += 1 + n/8 {
			w, h, ok := HeadSize(file[:n], DefaultBudget())
			if jpeg := strings.HasSuffix(e.Name(), ".jpg"); ok && (w != img.Width || h != img.Height) || ok && !jpeg {
				t.Errorf("%s: %d×%d by the first %d bytes", e.Name(), w, h, n)
			}
		}
		if _, _, ok := HeadSize(file, DefaultBudget()); ok != bytes.HasPrefix(file, []byte("\xff\xd8")) {
			t.Errorf("%s: %t, all bytes are a beginning", e.Name(), ok)
		}
		checked[strings.HasPrefix(e.Name(), "orientation_")]++
	}
	if checked[true] < 8 || checked[false] == 0 {
		t.Errorf("%v pictures", checked)
	}
	if _, _, err := Size(nil, DefaultBudget()); err == nil {
		t.Error("an empty file has a size")
	}
}

// TestTensorOfTurnedPicture compares the row-wise path with the full picture.
func TestTensorOfTurnedPicture(t *testing.T) {
	s := preset(t, "clip")
	s.Size, s.Crop = 20, 13
	p := must.Get(New(s, DefaultBudget()))(t)
	file := readFile(t, "images", "orientation_8.jpg")
	img := must.Get(Decode(t.Context(), file, DefaultBudget(), true))(t)
	got, want := make([]float32, 3*13*13), make([]float32, 3*13*13)
	must.Do(t, p.Tensor(t.Context(), got, file))
	must.Do(t, p.fromImage(want, img))
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("value %d: %g, want %g", i, got[i], want[i])
		}
	}
}
