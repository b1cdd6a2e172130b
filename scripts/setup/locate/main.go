// Command locate loads the ONNX Runtime library that the pipeline would use and
// prints its path. scripts/setup/onnxruntime.sh calls it, so that the script and
// the program search the same places. It exits with 1 if there is none; -v lists
// all places searched.
package main

import (
	"fmt"
	"os"

	"github.com/seed-90d10d51/pipeline/internal/ort"
)

func main() {
	verbose := len(os.Args) > 1 && os.Args[1] == "-v"
	if err := locate(verbose); err != nil {
		fmt.Fprintln(os.Stderr, "setup:", err)
		os.Exit(1)
	}
}

func locate(verbose bool) error {
	lib, attempts, err := ort.Locate("")
	if verbose {
		for _, a := range attempts {
			fmt.Fprintf(os.Stderr, "  %s (%s): %v\n", a.Path, a.Source, a.Err)
		}
	}
	if err != nil {
		return err
	}
	rt, err := ort.Open(lib)
	if err != nil {
		return err
	}
	fmt.Printf("ONNX Runtime %s: %s (found in %s)\n", rt.Version(), rt.Library().Path, rt.Library().Source)
	return nil
}
