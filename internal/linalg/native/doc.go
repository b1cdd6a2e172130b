// Package native chooses the backend of large products once per process.
// Float32, for scores: ONNX Runtime, which the pipeline needs anyway. Float64,
// for fits: OpenBLAS where it is installed, otherwise ONNX Runtime. Where
// neither is there: gonum. The choice is a value that is passed on.
//
// All of them run single-threaded kernels, one goroutine per core, on blocks
// that do not depend on the number of goroutines: under one backend results
// are the same at any number of threads, and a row's result does not depend on
// the rows beside it. OpenBLAS cannot promise the latter: it multiplies for
// fits alone (linalg.Raw), float64 products of scores are ONNX Runtime's then.
// Two backends differ in the last bits.
package native
