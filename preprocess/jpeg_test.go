package preprocess

import (
	"math"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func imagenet(tb testing.TB) Spec {
	tb.Helper()
	return must.Get(Preset("imagenet"))(tb)
}

// TestReduction: only from four times the target, and never below twice.
func TestReduction(t *testing.T) {
	s := imagenet(t)
	for _, c := range []struct{ width, height, want int }{
		{500, 375, 1}, {1194, 895, 1}, {1195, 896, 2}, {4000, 896, 2}, {4000, 1792, 4}, {4000, 3000, 4},
		{3000, 4000, 4}, {4776, 3583, 4}, {4778, 3584, 8}, {30000, 20000, 8},
	} {
		by := reduction(s.Size, c.width, c.height)
		if by != c.want || by > 1 && min(c.width, c.height)/by < 2*s.Size {
			t.Errorf("%d×%d: 1/%d, want 1/%d", c.width, c.height, by, c.want)
		}
	}
}

// TestReducedGeometry: a picture decoded at reduced size is resized to the same
// pixels as the whole one, also where its sides are no multiples, in every
// orientation.
func TestReducedGeometry(t *testing.T) {
	const width, height, by = 1003, 917, 4
	full := &Image{Width: width, Height: height, Pix: make([]byte, 3*width*height)}
	for i := range full.Pix {
		x, y := i/3%width, i/3/width
		full.Pix[i] = byte(128 + 60*math.Sin(float64(x)/40) + 60*math.Cos(float64(y)/30))
	}
	small := average(full, by)
	spec := imagenet(t)
	for o := 1; o <= 8; o++ {
		n := plan{width: width, height: height, by: by}
		pictures := [2][]byte{}
		whole, reduced := upright(full, o), upright(small, o)
		resize := func(r raster, g geometry) (out []byte) {
			new(resampler).run(r, filterOf(spec.Interpolation), g,
				func(_ int, rgb []byte) { out = append(out, rgb...) })
			return out
		}
		pictures[0], pictures[1] = resize(whole, spec.geometry(whole.size())),
			resize(reduced, spec.geometryIn(reduced, n, o))
		worst := 0
		for i, v := range pictures[0] {
			worst = max(worst, int(v)-int(pictures[1][i]), int(pictures[1][i])-int(v))
		}
		if worst > 2 {
			t.Errorf("orientation %d: %d levels", o, worst)
		}
	}
}
