package commandtest

import (
	"bytes"
	"hash/fnv"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"math"
	"math/rand/v2"
)

// Photo draws a picture: a wave whose colour and direction depend on the class,
// with noise. The same arguments give the same bytes.
func Photo(class string, number, side int) []byte { return PhotoOf(class, number, side, side) }

// PhotoOf is Photo with a width and a height.
func PhotoOf(class string, number, width, height int) []byte {
	rng := rand.New(rand.NewPCG(HashText(class), uint64(number)))
	look := rand.New(rand.NewPCG(HashText(class), 1<<32))
	base := [3]float64{look.Float64(), look.Float64(), look.Float64()}
	fx, fy := look.Float64()*0.6, look.Float64()*0.6
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	phase := rng.Float64() * 6
	for y := range height {
		for x := range width {
			wave := 60 * math.Sin(fx*float64(x)+fy*float64(y)+phase)
			grain := rng.Float64() * 20
			img.SetRGBA(x, y, color.RGBA{
				level(base[0], wave+grain), level(base[1], wave-grain), level(base[2], grain-wave), 255,
			})
		}
	}
	var buf bytes.Buffer
	if err := jpeg.Encode(&buf, img, nil); err != nil {
		panic(err) // into memory it cannot fail
	}
	return buf.Bytes()
}

func level(base, change float64) uint8 {
	return uint8(min(max(80+base*120+change, 0), 255))
}

// HashText returns the FNV-1a hash of a text.
func HashText(s string) uint64 {
	h := fnv.New64a()
	io.WriteString(h, s) // into memory it cannot fail
	return h.Sum64()
}
