package matlab_test

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/dataset/matlab"
)

func ExampleFile() {
	f, err := matlab.Open("testdata/compressed.mat")
	if err != nil {
		panic(err)
	}
	defer f.Close()
	cells, err := f.Read("cells")
	if err != nil {
		panic(err)
	}
	texts, err := cells.Strings()
	fmt.Printf("%q %v\n", texts, err)
	n := 0
	err = f.Columns("matrix", func(column []float64) error {
		if n++; n == 2 {
			fmt.Println(column)
		}
		return nil
	})
	fmt.Println(n, err)
	// Output:
	// ["a/b.jpg" "" "cä/d.jpg"] <nil>
	// [0.125 10.125 20.125 30.125 40.125]
	// 7 <nil>
}
