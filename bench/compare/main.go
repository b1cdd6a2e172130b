// Compare prints how similar the features of two folders are.
//
//	go run ./bench/compare [-median 0.9995] [-min 0.996] FEATDIR FEATDIR
//
// It exits with status 1 if a cosine is below its threshold.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/embedding/featdir"
)

func main() {
	medianWanted := flag.Float64("median", 0, "smallest acceptable median cosine")
	minWanted := flag.Float64("min", 0, "smallest acceptable cosine")
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "usage: compare [-median X] [-min X] FEATDIR FEATDIR")
		os.Exit(2)
	}
	a, err := compare(flag.Arg(0), flag.Arg(1))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("files %d  median cosine %.7f  minimum %.7f (%s)\n", a.Files, a.Median, a.Min, a.Worst)
	if a.Median < *medianWanted || a.Min < *minWanted {
		fmt.Fprintf(os.Stderr, "wanted: median %g, minimum %g\n", *medianWanted, *minWanted)
		os.Exit(1)
	}
}

func compare(dirA, dirB string) (embedding.Agreement, error) {
	a, err := featdir.Read(dirA)
	if err != nil {
		return embedding.Agreement{}, err
	}
	b, err := featdir.Read(dirB)
	if err != nil {
		return embedding.Agreement{}, err
	}
	return embedding.Agree(a, b)
}
