package demo

import (
	"math"
	"testing"
)

// Every painter must cope with whatever its dice say.
func TestEveryClassPaintsEverySeed(t *testing.T) {
	for _, c := range append(knownClasses(), unknownClasses()...) {
		for seed := range uint64(3) {
			s := newScene(seed, "probe")
			c.paint(s)
			s.clutter()
			s.light()
			for i, p := range s.pixels {
				if math.IsNaN(p.r + p.g + p.b) {
					t.Fatalf("%s, seed %d: pixel %d is NaN", c.name, seed, i)
				}
			}
		}
	}
}

func TestHSV(t *testing.T) {
	for _, c := range []struct {
		h, s, v float64
		want    rgb
	}{
		{0, 1, 1, rgb{1, 0, 0}}, {1.0 / 3, 1, 1, rgb{0, 1, 0}}, {-1.0 / 3, 1, 1, rgb{0, 0, 1}},
		{0.4, 0, 0.5, rgb{0.5, 0.5, 0.5}}, {1.5, 1, 1, rgb{0, 1, 1}},
	} {
		got := hsv(c.h, c.s, c.v)
		if d := math.Abs(got.r-c.want.r) + math.Abs(got.g-c.want.g) + math.Abs(got.b-c.want.b); d > 1e-12 {
			t.Errorf("hsv(%v, %v, %v) = %v, want %v", c.h, c.s, c.v, got, c.want)
		}
	}
}

func TestNoiseStaysInRangeAndIsContinuous(t *testing.T) {
	n := noise(42)
	for i := range 2000 {
		x, y := float64(i)*0.137-90, float64(i)*0.071-50
		v := n.cloud(x, y, 4)
		if v < 0 || v > 1 {
			t.Fatalf("cloud(%v, %v) = %v", x, y, v)
		}
		if d := math.Abs(v - n.cloud(x+1e-6, y, 4)); d > 1e-4 {
			t.Fatalf("cloud jumps by %v at (%v, %v)", d, x, y)
		}
	}
}

func TestFillCoversItsAreaAndIsCutAtTheEdge(t *testing.T) {
	sum := func(s shape) float64 {
		c := newCanvas(100, 80)
		c.fill(s, flat(grey(1)))
		total := 0.0
		for _, p := range c.pixels {
			total += p.r
		}
		return total
	}
	if got := sum(rectangle(10.5, 10.25, 30.5, 20.25)); math.Abs(got-200) > 1 {
		t.Errorf("rectangle covers %v pixels, want 200", got)
	}
	if got := sum(disc(point{50, 40}, 20)); math.Abs(got-math.Pi*400) > 8 {
		t.Errorf("disc covers %v pixels, want %v", got, math.Pi*400)
	}
	if got := sum(rectangle(-50, -50, 10, 10)); math.Abs(got-100) > 1 {
		t.Errorf("overhanging rectangle covers %v pixels, want 100", got)
	}
	if got := sum(rectangle(200, 200, 300, 300)); got != 0 {
		t.Errorf("rectangle outside covers %v pixels", got)
	}
}

func TestBlurKeepsTheMean(t *testing.T) {
	c := newCanvas(64, 64)
	c.fill(rectangle(24, 24, 40, 40), flat(grey(1)))
	c.blur(3)
	total := 0.0
	for _, p := range c.pixels {
		total += p.g
	}
	if math.Abs(total-256) > 1e-6 {
		t.Errorf("sum after blur %v, want 256", total)
	}
}

func TestPoseInvertUndoesApply(t *testing.T) {
	p := pose{at: point{30, 40}, size: 12, turn: 0.7, flip: true, foreshorten: 0.3}
	q := p.apply(point{0.4, -0.9})
	back := p.invert(q.x, q.y)
	if d := back.minus(point{0.4, -0.9}); math.Hypot(d.x, d.y) > 1e-12 {
		t.Errorf("got %v", back)
	}
}

func TestHexagonAndTileStayInRange(t *testing.T) {
	for i := range 5000 {
		u, w := float64(i)*0.0317, float64(i)*0.0173
		if _, _, edge, _, _ := hexagon(u, w); edge < -1e-9 || edge > 0.5 {
			t.Fatalf("hexagon(%v, %v): edge %v", u, w, edge)
		}
		if _, depth, _, across := tileAt(u, w, 0.4); depth < 0 || depth > 1 || math.Abs(across) > 0.5 {
			t.Fatalf("tileAt(%v, %v): depth %v, across %v", u, w, depth, across)
		}
	}
}
