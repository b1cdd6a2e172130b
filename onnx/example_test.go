package onnx_test

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/onnx"
)

// A graph that doubles each of two numbers of any number of rows, written as a file and read again.
func Example() {
	g := onnx.NewGraph("double/")
	x := g.Input("x", onnx.Float32, onnx.Free, 2)
	g.Output("y", g.Op("Mul", x, g.Float32s([]float32{2})), onnx.Float32, onnx.Free, 2)
	file, err := g.Model("example", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := onnx.Parse(file)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(onnx.Names(m.Inputs), onnx.Names(m.Outputs), m.Opset)
	// Output: x float32[?,2] y float32[?,2] 17
}
