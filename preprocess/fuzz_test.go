package preprocess

import (
	"errors"
	"math"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// fuzzBudget keeps single inputs quick.
func fuzzBudget() *Budget {
	b, _ := NewBudget(2 * leastMemory)
	return b
}

// FuzzDecode checks that any bytes give a picture within the limits or one of
// our errors, and never a panic.
func FuzzDecode(f *testing.F) {
	for _, file := range seedImages(f) {
		f.Add(file)
	}
	for _, file := range bombs() {
		f.Add(file)
	}
	f.Add(chromaTIFF(9, 9))
	f.Fuzz(func(t *testing.T, file []byte) {
		img, err := Decode(t.Context(), file, fuzzBudget(), true)
		if err != nil {
			if !hasKind(err) {
				t.Fatalf("unknown kind of error: %v", err)
			}
			return
		}
		must.Do(t, img.check())
		if int64(img.Width)*int64(img.Height) > fuzzBudget().Bytes() {
			t.Fatalf("%d×%d pixels pass the limit", img.Width, img.Height)
		}
	})
}

// FuzzTensor checks that Tensor agrees with Decode on what is a picture, and
// that its values stay in range. Decode may exceed the budget where Tensor does
// not, because it returns the whole picture.
func FuzzTensor(f *testing.F) {
	for _, file := range seedImages(f) {
		f.Add(file)
	}
	half := [3]float64{0.5, 0.5, 0.5}
	p := must.Get(New(Spec{Resize: ResizeShorter, Size: 24, Crop: 17, Interpolation: Bicubic, Mean: half, Std: half,
		Orientation: true}, fuzzBudget()))(f)
	f.Fuzz(func(t *testing.T, file []byte) {
		dst := make([]float32, 3*17*17)
		err := p.Tensor(t.Context(), dst, file)
		_, decodeErr := Decode(t.Context(), file, fuzzBudget(), true)
		if larger := err == nil && errors.Is(decodeErr, ErrTooLarge); (err == nil) != (decodeErr == nil) && !larger {
			t.Fatalf("tensor: %v, decode: %v", err, decodeErr)
		}
		for i, v := range dst {
			if err == nil && !(math.Abs(float64(v)) <= 1) {
				t.Fatalf("value %d is %g", i, v)
			}
		}
	})
}
