// Package ort is the only door to ONNX Runtime. It finds the shared library
// (Locate), loads it once (Open), and makes sessions and tensors.
//
// # Nothing loads until Open
//
// Locate reads the headers of candidate files and their version without
// loading any of them, so `pipeline doctor` can look at a broken or foreign
// library safely: loading a truncated library kills the process (SIGBUS)
// before any error can be returned.
//
// # One environment per process
//
// The binding that we use (github.com/yalue/onnxruntime_go) keeps the loaded
// library and its environment in variables of its own, and ONNX Runtime can
// crash when an environment is destroyed and made again. So there is exactly
// one for the life of the process: Open returns the same Runtime for the same
// library, refuses another one, and nothing ever closes it. This is the one
// piece of process-wide state in the project.
//
// # No telemetry
//
// The official builds since 1.29 report to their maker unless told not to
// before they load. Open tells them.
//
// # Threads
//
// Sessions run single-threaded on the goroutine that calls them. Parallelism
// is one goroutine per core, which is faster than one session with several
// threads and keeps results independent of the number of threads.
package ort
