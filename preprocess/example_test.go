package preprocess_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"

	"github.com/seed-90d10d51/pipeline/preprocess"
)

func Example() {
	spec, err := preprocess.Preset("vit-0.5") // (v/255 − 0.5)/0.5
	if err != nil {
		panic(err)
	}
	p, err := preprocess.New(spec, preprocess.DefaultBudget())
	if err != nil {
		panic(err)
	}

	m := image.NewNRGBA(image.Rect(0, 0, 300, 200))
	for y := range 200 {
		for x := range 300 {
			m.Set(x, y, color.NRGBA{R: 255, A: 255})
		}
	}
	var file bytes.Buffer
	if err := png.Encode(&file, m); err != nil {
		panic(err)
	}

	side := p.Spec().Side()
	tensor := make([]float32, 3*side*side)
	if err := p.Tensor(context.Background(), tensor, file.Bytes()); err != nil {
		panic(err)
	}
	fmt.Println(side, tensor[0], tensor[side*side], tensor[2*side*side])

	err = p.Tensor(context.Background(), tensor, []byte("\xff\x0a\x00\x00"))
	fmt.Println(err)
	// Output:
	// 224 1 -1 -1
	// read image: unsupported image format: this is JPEG XL; convert it to JPEG or PNG first (djxl IN.jxl OUT.png)
}
