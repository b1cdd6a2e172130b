package preprocess

import (
	"bytes"
	"image"
	"image/png"
	"math"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// small is a spec of 16 of 20 pixels without normalisation.
func small(t *testing.T, view string) Spec {
	s := preset(t, "imagenet")
	s.Size, s.Crop, s.Mean, s.Std, s.View = 20, 16, [3]float64{}, [3]float64{1, 1, 1}, view
	return s
}

// squaresOf returns the tensors of a file, and whether the crop hides much of it.
func squaresOf(t *testing.T, s Spec, file []byte) (all [][]float32, hidden bool) {
	t.Helper()
	p := must.Get(New(s, DefaultBudget()))(t)
	ctx := WithRemarks(t.Context(), func(r Remark) { hidden = hidden || r == RemarkHidden })
	must.Do(t, p.Tensors(ctx, file, func(tensor func([]float32) error) error {
		all = append(all, make([]float32, 3*s.Side()*s.Side()))
		return tensor(all[len(all)-1])
	}))
	first := make([]float32, 3*s.Side()*s.Side())
	if err := p.Tensor(t.Context(), first, file); err != nil || !slices.Equal(first, all[0]) {
		t.Errorf("%s: Tensor is not the first of Tensors (%v)", s.View, err)
	}
	return all, hidden
}

// TestSquaresCover: views begin and end at the ends, lie in order and overlap unless there are
// too many, and a square picture has one: the crop.
func TestSquaresCover(t *testing.T) {
	for _, resize := range []string{ResizeShorter, ResizeExact} {
		s := small(t, ViewViews)
		s.Resize = resize
		crop := small(t, "")
		for w := 1; w < 120; w += 3 {
			for h := 1; h < 120; h += 7 {
				all := s.squares(s.geometry(w, h))
				long, at := max(all[0].width, all[0].height), make([]int, len(all))
				for i, g := range all {
					if at[i] = g.left; g.height > g.width {
						at[i] = g.top
					}
				}
				n := len(all)
				if n == 1 {
					if all[0] != crop.geometry(w, h) || long > 16*11/10+4 {
						t.Fatalf("%d×%d has one view, %+v", w, h, all[0])
					}
					continue
				}
				if at[0] != 0 || at[n-1] != long-16 || n > mostViews || !slices.IsSorted(at) {
					t.Fatalf("%d×%d: views at %v of %d", w, h, at, long)
				}
				for i := 1; i < n && n < mostViews; i++ {
					if at[i]-at[i-1] > 16 {
						t.Fatalf("%d×%d: a gap between views at %v", w, h, at)
					}
				}
			}
		}
	}
}

// TestSquaresShow compares each way with a picture prepared by hand.
func TestSquaresShow(t *testing.T) {
	wide, tall := ramp(t, 90, 60), ramp(t, 60, 90)
	for name, file := range map[string][]byte{"wide": wide, "tall": tall} {
		exact := small(t, "")
		exact.Resize, exact.Size, exact.Crop = ResizeExact, 16, 16
		want, _ := squaresOf(t, exact, file)
		if got, _ := squaresOf(t, small(t, ViewSqueeze), file); len(got) != 1 || !slices.Equal(got[0], want[0]) {
			t.Errorf("%s: squeeze is not the resize to the square", name)
		}
		s := small(t, ViewPad)
		s.Mean, exact.Mean = [3]float64{0.2, 0.4, 0.6}, [3]float64{0.2, 0.4, 0.6}
		want, _ = squaresOf(t, exact, barred(t, file, s.meanColour()))
		got, hidden := squaresOf(t, s, file)
		if len(got) != 1 || !slices.Equal(got[0], want[0]) || hidden {
			t.Errorf("%s: pad is not the picture with bars", name)
		}
		if v := got[0]; v[0] != 0 || v[16*16] != 0 || v[len(v)-1] != 0 {
			t.Errorf("%s: the corners of the bars are %g, %g, %g", name, v[0], v[16*16], v[len(v)-1])
		}
		if views, hidden := squaresOf(t, small(t, ViewViews), file); len(views) != 2 || hidden {
			t.Errorf("%s: %d views", name, len(views))
		}
		if _, hidden := squaresOf(t, small(t, ""), file); !hidden {
			t.Errorf("%s: the crop hides a third, and nothing is said", name)
		}
	}
	// Red grows to the right: the first view has its least, the last its most.
	views, _ := squaresOf(t, small(t, ViewViews), ramp(t, 180, 80))
	crop, hidden := squaresOf(t, small(t, ""), ramp(t, 180, 80))
	if len(views) != 3 || !slices.Equal(views[1], crop[0]) || !hidden {
		t.Fatalf("%d views of a picture of 9:4, hidden %v", len(views), hidden)
	}
	if least, most := views[0][0], views[2][15]; least > 0.03 || most < 0.97 {
		t.Errorf("views reach from %g to %g of the width", least, most)
	}
	for _, size := range [][2]int{{80, 60}, {60, 80}, {80, 80}, {4000 / 50, 3024 / 50}} {
		if _, hidden := squaresOf(t, small(t, ""), ramp(t, size[0], size[1])); hidden {
			t.Errorf("%v: the crop is said to hide much", size)
		}
	}
}

// barred returns a picture with bars that make it square, as a file.
func barred(t *testing.T, file []byte, colour [3]byte) []byte {
	t.Helper()
	m := must.Get(png.Decode(bytes.NewReader(file)))(t)
	size := m.Bounds().Size()
	side := max(size.X, size.Y)
	out := image.NewNRGBA(image.Rect(0, 0, side, side))
	for i := range side * side {
		copy(out.Pix[4*i:], []byte{colour[0], colour[1], colour[2], 255})
	}
	for y := range size.Y {
		for x := range size.X {
			out.Set(x+(side-size.X)/2, y+(side-size.Y)/2, m.At(x, y))
		}
	}
	var b bytes.Buffer
	must.Do(t, png.Encode(&b, out))
	return b.Bytes()
}

// TestSquaresOfOddPictures: strips and single pixels, within the estimate of memory.
func TestSquaresOfOddPictures(t *testing.T) {
	for _, view := range []string{"", ViewSqueeze, ViewPad, ViewViews} {
		for _, size := range [][2]int{{1, 1}, {1, 700}, {700, 1}, {3000, 20}, {20, 3000}} {
			file := ramp(t, size[0], size[1])
			all, _ := squaresOf(t, small(t, view), file)
			for _, v := range slices.Concat(all...) {
				if !(v >= 0 && v <= 1) || math.IsNaN(float64(v)) {
					t.Fatalf("%s of %v: %g", view, size, v)
				}
			}
			p, err := New(small(t, view), DefaultBudget())
			if err != nil {
				t.Fatal(err)
			}
			dst := make([]float32, 3*16*16)
			got := allocated(func() { err = p.Tensor(t.Context(), dst, file) })
			if most := p.budget.pictures.garbage; err != nil || got > most {
				t.Errorf("%s of %v: the estimate is %d for %d bytes (%v)", view, size, most, got, err)
			}
		}
	}
}
