// Command locate loads a library that the pipeline would use and prints its path.
// scripts/setup/libraries.sh calls it, so that the script and the program search
// the same places. It exits with 1 if there is none; -v lists the places searched
// for ONNX Runtime.
//
//	locate [-v] onnxruntime|jpeg
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/seed-90d10d51/pipeline/internal/ort"
	"github.com/seed-90d10d51/pipeline/internal/turbojpeg"
)

func main() {
	verbose := flag.Bool("v", false, "list the places searched")
	flag.Parse()
	var err error
	switch library := flag.Arg(0); library {
	case "onnxruntime":
		err = onnxRuntime(*verbose)
	case "jpeg":
		err = jpeg()
	default:
		err = fmt.Errorf("library %q is not onnxruntime or jpeg", library)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "setup:", err)
		os.Exit(1)
	}
}

func onnxRuntime(verbose bool) error {
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

func jpeg() error {
	d, err := turbojpeg.Find() // its errors name the places
	if err != nil {
		return err
	}
	fmt.Printf("libjpeg-turbo: %s (%s)\n", d.Path(), turbojpeg.Source(d.Path()))
	return nil
}
