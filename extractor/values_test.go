package extractor

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/onnx"
)

func output(name string) func(*Config) { return func(c *Config) { c.Output = name } }
func pool(name string) func(*Config)   { return func(c *Config) { c.Pool = name } }
func batch(n int) func(*Config)        { return func(c *Config) { c.Batch = n } }
func token(n int) func(*Config)        { return func(c *Config) { c.Token = n } }
func layout(name string) func(*Config) { return func(c *Config) { c.Layout = name } }
func side(n int) func(*Config)         { return func(c *Config) { c.Side = n } }
func provider(p string) func(*Config)  { return func(c *Config) { c.Provider = p } }
func input(name string) func(*Config)  { return func(c *Config) { c.Input = name } }
func all(f ...func(*Config)) func(*Config) {
	return func(c *Config) {
		for _, change := range f {
			change(c)
		}
	}
}

// TestTinyModels: exact embeddings of rampPhoto(4, 1), whose pixel p has the
// colours (p/16, 8+p/16, 16+p/16); mean 15/32, maximum 15/16.
func TestTinyModels(t *testing.T) {
	mean := []float32{0.46875, 8.46875, 16.46875, 83.28125}
	highest := []float32{0.9375, 8.9375, 16.9375, 86.5625}
	first := []float32{0, 8, 16, 80}
	cases := []struct {
		model  string
		change func(*Config)
		want   []float32
	}{
		{"nchw", nil, mean},
		{"nchw", layout(LayoutNCHW), mean},
		{"nchw", all(input("input"), side(4)), mean},
		{"nchw", output("map"), mean}, // an inner tensor, pooled
		{"nchw", output("pooled"), mean},
		{"nhwc", nil, mean},
		{"nhwc", all(output("map"), pool(PoolMax)), highest},
		{"half", nil, []float32{0.46875, 8.46875, 16.46875, 83.25}}, // rounded to float16
		{"half", output("pooled"), []float32{0.46875, 8.46875, 16.46875, 83.25}},
		{"batch4", nil, mean},
		{"free_side", nil, mean},
		{"map", nil, mean},
		{"map", pool(PoolMean), mean},
		{"map", pool(PoolMax), highest},
		{"tokens", nil, first},
		{"tokens", token(15), highest},
		{"tokens", pool(PoolMean), mean},
		{"tokens", pool(PoolMax), highest},
		{"two", output("a"), mean},
		{"two", output("b"), []float32{-0.46875, -8.46875, -16.46875, -83.28125}},
		{"classifier", output(Penultimate), mean},
		{"classifier_matmul", output(Penultimate), mean},
		{"classifier_matmul", nil, []float32{16.9375, 92.75}},
	}
	for _, c := range cases {
		e := openTiny(t, c.model, c.change)
		dst := newMatrix(1, e.Dim())
		if err := e.Extract(dst, rampPhoto(4, 1)); err != nil {
			t.Errorf("%s: %v", c.model, err)
		}
		if !slices.Equal(dst.Data, c.want) {
			t.Errorf("%s, output %s: %v, want %v", c.model, e.Output(), dst.Data, c.want)
		}
	}
}

func TestPoolNoneFlattens(t *testing.T) {
	for name, at := range map[string]func(c, p int) int{
		"map":    func(c, p int) int { return c*16 + p },
		"tokens": func(c, p int) int { return p*4 + c },
	} {
		e := openTiny(t, name, pool(PoolNone))
		dst := newMatrix(1, e.Dim())
		if err := e.Extract(dst, rampPhoto(4, 1)); err != nil || e.Dim() != 64 {
			t.Fatalf("%s: d = %d, %v", name, e.Dim(), err)
		}
		for p := range 16 {
			if got, want := dst.Data[at(1, p)], 8+float32(p)/16; got != want {
				t.Errorf("%s: green of pixel %d is %v, want %v", name, p, got, want)
			}
		}
	}
}

func TestFacts(t *testing.T) {
	e := openTiny(t, "batch4", nil)
	if e.Dim() != 4 || e.Side() != 4 || e.Batch() != 4 || e.Output() != "features" {
		t.Errorf("d %d, side %d, batch %d, output %s", e.Dim(), e.Side(), e.Batch(), e.Output())
	}
	if _, ok := e.meta[onnx.MetadataPreprocess]; ok {
		t.Error("batch4 has preprocessing metadata")
	}
	got := openTiny(t, "nchw", nil).meta[onnx.MetadataPreprocess]
	if got != `{"resize":"shorter","size":4,"crop":4}` {
		t.Errorf("metadata %q", got)
	}
	e = openTiny(t, "free_side", nil)
	if e.Dim() != 4 || e.Side() != 0 || e.Batch() != 1 {
		t.Errorf("d %d, side %d, batch %d", e.Dim(), e.Side(), e.Batch())
	}
	if e = openTiny(t, "free_side", side(7)); e.Side() != 7 || e.Batch() != 4 {
		t.Errorf("side %d, configured 7; batch %d, want 4", e.Side(), e.Batch())
	}
}

func TestFreeSide(t *testing.T) {
	e := openTiny(t, "free_side", nil)
	for _, a := range []int{1, 4, 9, 4, 16} {
		dst := newMatrix(1, 4)
		must.Do(t, e.Extract(dst, rampPhoto(a, 1)))
		want := rampMeans(a, 1)
		for i, v := range dst.Data {
			if math.Abs(float64(v-want[i])) > 1e-5*float64(1+want[i]) {
				t.Errorf("side %d: %v, want %v", a, dst.Data, want)
			}
		}
	}
	flat := openTiny(t, "free_side", all(output("map"), pool(PoolNone), side(4)))
	if flat.Dim() != 64 {
		t.Errorf("d = %d", flat.Dim())
	}
}

// photos returns n ramps of scales 1, 2, 3, …
func photos(n int) []float32 {
	var pixels []float32
	for i := range n {
		pixels = append(pixels, rampPhoto(4, float32(i+1))...)
	}
	return pixels
}

// TestEightBits: a quantized model (QuantizeLinear and DequantizeLinear) gives
// the values of the float32 one, exactly for colours that are whole steps.
func TestEightBits(t *testing.T) {
	dst, pixels := newMatrix(2, 4), make([]float32, 2*3*4*4)
	for i := range pixels {
		pixels[i] = float32(i%11) / 8
	}
	want := newMatrix(2, 4)
	must.Do(t, openTiny(t, "nchw", batch(2)).Extract(want, pixels))
	must.Do(t, openTiny(t, "int8", batch(2)).Extract(dst, pixels))
	if !slices.Equal(dst.Data, want.Data) {
		t.Errorf("%v, want %v", dst.Data, want.Data)
	}
}

// TestBatches: fixed and chosen batch sizes, full and padded, give each photo
// its own row.
func TestBatches(t *testing.T) {
	for _, e := range []*Extractor{openTiny(t, "batch4", nil), openTiny(t, "nchw", batch(4)),
		openTiny(t, "nhwc", batch(4))} {
		for n := 1; n <= 4; n++ {
			dst := newMatrix(n, 4)
			must.Do(t, e.Extract(dst, photos(n)))
			for i := range n {
				want := rampMeans(4, float32(i+1))
				if got := dst.Data[4*i : 4*i+4]; !slices.Equal(got, want[:]) {
					t.Errorf("photo %d of %d: %v, want %v", i, n, got, want)
				}
			}
		}
	}
}

// TestAcceleratorBatch: away from the CPU all runs of a model have one shape.
func TestAcceleratorBatch(t *testing.T) {
	for _, c := range []struct {
		provider    string
		fixed       int64
		batch, want int
		free        bool
	}{
		{"cpu", onnx.Free, 0, 1, true}, {"cpu", onnx.Free, 8, 8, false}, {"cpu", 4, 0, 4, false},
		{"cuda", onnx.Free, 0, acceleratorBatch, false}, {"cuda", onnx.Free, 8, 8, false}, {"cuda", 4, 0, 4, false},
	} {
		cfg := DefaultConfig()
		cfg.Provider, cfg.Batch = c.provider, c.batch
		var p plan
		in := onnx.Value{Name: "input", HasShape: true, Shape: []int64{c.fixed, 3, 4, 4}}
		if err := p.readInputShape(in, cfg); err != nil || p.batch != c.want || p.free != c.free {
			t.Errorf("%+v: batch %d, free %t, %v", c, p.batch, p.free, err)
		}
	}
}

// TestSizes: photos share a run only of a model that gives each the embedding it has
// alone. Others are run one by one, also those that cannot run on several.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		model  string
		sizes  int     // that may be used in the end
		factor float32 // features by those of the model nchw
	}{{"nchw", 3, 1}, {"nhwc", 3, 1}, {"neighbours", 1, 2}, {"one_only", 1, 1}} {
		e := openTiny(t, c.model, nil)
		for call := range 40 {
			n := most - call%2
			dst := newMatrix(n, 4)
			must.Do(t, e.Extract(dst, photos(n)))
			for k, got := range dst.Data {
				if want := c.factor * rampMeans(4, float32(k/4+1))[k%4]; got != want {
					t.Fatalf("%s, call %d: %v, want %v at %d", c.model, call, dst.Data, want, k)
				}
			}
		}
		for _, tried := range e.sizes.trials {
			if !tried.compared || tried.calls != trialCalls {
				t.Errorf("%s: %+v", c.model, tried)
			}
		}
		if got := len(e.sizes.trials); got != c.sizes {
			t.Errorf("%s: %d sizes, want %d", c.model, got, c.sizes)
		}
	}
}

// TestFastestSize: after the first photos each size is compared and timed, and the
// fastest stays.
func TestFastestSize(t *testing.T) {
	s := newSizes()
	took := map[int]time.Duration{1: 40, 2: 30, most: 36}
	var order []int
	for range 60 {
		rows, compared := s.next(most)
		order = append(order, rows)
		if compared {
			s.timed(rows, took[rows]+time.Duration(len(order)%3))
		} else {
			s.settle(rows, true)
		}
	}
	if first := order[:alone/most]; !slices.Equal(first, slices.Repeat([]int{1}, len(first))) {
		t.Errorf("the first photos in runs of %v", first)
	}
	if rows, _ := s.next(most); rows != 2 {
		t.Errorf("runs of %d in the end, want 2; %v", rows, order)
	}
	if rows, compared := s.next(3); rows != 2 || !compared {
		t.Errorf("three photos in runs of %d, compared %v", rows, compared)
	}
}

// TestBadRowsOfRuns: the row of a photo without finite features is that of the call.
func TestBadRowsOfRuns(t *testing.T) {
	e := openTiny(t, "log", nil)
	pixels := slices.Concat(rampPhoto(4, 1), rampPhoto(4, 2), rampPhoto(4, -1), rampPhoto(4, -1))
	for call := range 30 {
		dst := newMatrix(4, 3)
		var bad *NonFiniteError
		if err := e.Extract(dst, pixels); !errors.As(err, &bad) || bad.Row != 2 {
			t.Fatalf("call %d: %v, want row 2", call, err)
		}
		if !dense.Finite32(dense.Row32(dst, 1)) {
			t.Fatalf("call %d: the good row is %v", call, dense.Row32(dst, 1))
		}
	}
}

func TestStrideIsRespected(t *testing.T) {
	e := openTiny(t, "batch4", nil)
	dst := blas32.General{Rows: 3, Cols: 4, Stride: 6, Data: make([]float32, 2*6+4)}
	for i := range dst.Data {
		dst.Data[i] = -1
	}
	must.Do(t, e.Extract(dst, photos(3)))
	for i := range 3 {
		want := rampMeans(4, float32(i+1))
		if got := dst.Data[6*i : 6*i+4]; !slices.Equal(got, want[:]) {
			t.Errorf("row %d: %v, want %v", i, got, want)
		}
	}
	if gap := []float32{dst.Data[4], dst.Data[5], dst.Data[10], dst.Data[11]}; !slices.Equal(gap,
		[]float32{-1, -1, -1, -1}) {
		t.Errorf("between the rows: %v", gap)
	}
}

func TestConcurrentUse(t *testing.T) {
	e := openTiny(t, "free_side", nil)
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for g := range errs {
		wg.Go(func() { errs[g] = hammer(e, g) })
	}
	wg.Wait()
	for g, err := range errs {
		if err != nil {
			t.Errorf("goroutine %d: %v", g, err)
		}
	}
}

// hammer runs photos with a scale and side specific to the goroutine.
func hammer(e *Extractor, g int) error {
	scale, a := float32(g+1), 2<<(g%2)
	want := rampMeans(a, scale)
	dst := newMatrix(1, 4)
	for range 50 {
		if err := e.Extract(dst, rampPhoto(a, scale)); err != nil {
			return err
		}
		if !slices.Equal(dst.Data, want[:]) {
			return fmt.Errorf("%v, want %v", dst.Data, want)
		}
	}
	return nil
}

func TestExtractAllocatesLittle(t *testing.T) {
	e := openTiny(t, "nchw", nil)
	dst, pixels := newMatrix(1, 4), rampPhoto(4, 1)
	n := testing.AllocsPerRun(100, func() {
		must.Do(t, e.Extract(dst, pixels))
	})
	if n > 12 {
		t.Errorf("%v allocations a call", n)
	}
}

// TestHalfBits checks every float16 and the values between neighbours.
func TestHalfBits(t *testing.T) {
	for b := uint16(0); b < 0x7c00; b++ {
		v, next := halfValue(b), halfValue(b+1)
		if halfBits(v) != b || halfBits(-v) != b|0x8000 {
			t.Fatalf("%v: %#x, want %#x", v, halfBits(v), b)
		}
		middle := float32((float64(v) + float64(next)) / 2)
		if want := b + b&1; halfBits(middle) != want {
			t.Fatalf("%v, a tie: %#x, want %#x", middle, halfBits(middle), want)
		}
		if got := halfBits(math.Nextafter32(middle, 0)); got != b {
			t.Fatalf("just below %v: %#x, want %#x", middle, got, b)
		}
		if got := halfBits(math.Nextafter32(middle, math.MaxFloat32)); got != b+1 {
			t.Fatalf("just above %v: %#x, want %#x", middle, got, b+1)
		}
	}
	for v, want := range map[float32]uint16{float32(math.Inf(1)): 0x7c00, float32(math.Inf(-1)): 0xfc00, 1e30: 0x7c00,
		1e-30: 0} {
		if got := halfBits(v); got != want {
			t.Errorf("%v: %#x, want %#x", v, got, want)
		}
	}
	if got := halfBits(float32(math.NaN())) & 0x7fff; got <= 0x7c00 {
		t.Errorf("NaN: %#x", got)
	}
}

// halfValue decodes a positive binary16 by definition; 0x7c00 counts as 2¹⁶,
// because rounding to infinity starts half-way to it.
func halfValue(b uint16) float32 {
	exponent, fraction := int(b>>10), float64(b&0x3ff)
	if exponent == 0 {
		return float32(math.Ldexp(fraction, -24))
	}
	return float32(math.Ldexp(1024+fraction, exponent-25))
}
