package backbone_test

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/extractor/backbone"
)

func ExampleLookup() {
	e, err := backbone.Lookup("resnet18-v1")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(e.Dimension, e.Output, e.Licence, e.Preprocess.Size, e.Preprocess.Interpolation)
	// Output: 512 penultimate Apache-2.0 256 bilinear
}

func Example() {
	f, err := backbone.Resolve("", backbone.Dirs{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.Name, f.Source, f.PreprocessSource, f.Preprocess.Side())
	// Output: efficientnet-lite0 built-in catalogue 224
}
