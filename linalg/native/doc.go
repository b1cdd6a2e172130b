// Package native chooses the backend for large products once per process. Float32
// products, for scores, use ONNX Runtime, which the pipeline needs anyway. Float64
// products, for fits, use OpenBLAS if it is installed, otherwise ONNX Runtime.
// Without either library all products use gonum. The choice is a value that is
// passed on.
//
// It chooses among libraries of the machine, for this module's own packages: a program takes linalg.Default.
//
// All backends run single-threaded kernels, one goroutine per core, on blocks that
// do not depend on the number of goroutines: for one backend, results are the same
// for any number of threads, and the result of a row does not depend on the other
// rows. OpenBLAS cannot guarantee the latter, so it is used for fits alone
// (linalg.Kernel), and float64 products of scores use ONNX Runtime. Two backends
// differ in the last bits.
package native
