package cub_test

import (
	"errors"
	"fmt"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/dataset/cub"
)

func ExampleSource() {
	s, err := cub.Open("testdata/res101.mat", "testdata")
	if err != nil {
		panic(err)
	}
	defer s.Close()
	fmt.Println(len(s.Samples), s.Dim)
	enough := errors.New("enough")
	err = s.Each(func(s dataset.Sample, row []float32) error {
		fmt.Println(s.Path, s.Label, s.Split, row[:2])
		return enough
	})
	fmt.Println(err)
	// Output:
	// 12 8
	// 001.Black_footed_Albatross/Black_footed_Albatross_0003_103.jpg 001.Black_footed_Albatross train [8.75 0.765625]
	// enough
}
