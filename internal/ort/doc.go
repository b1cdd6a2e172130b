// Package ort is the only package that uses ONNX Runtime directly. It finds the
// shared library (Locate), loads it once (Open), and makes sessions and
// tensors.
//
// # A broken library is an error
//
// On Linux, Locate reads the headers of candidate files and their version without
// loading any of them, so `pipeline doctor` can inspect a broken or foreign library
// safely: loading a truncated library kills the process (SIGBUS) before any
// error can be returned. Elsewhere the system returns the error.
//
// # One environment per process
//
// The binding (github.com/yalue/onnxruntime_go) stores the loaded library and
// its environment in package variables, and ONNX Runtime can crash when an
// environment is destroyed and recreated. So there is exactly one for the life
// of the process: Open returns the same Runtime for the same library, refuses
// another one, and nothing ever closes it. This is the only process-wide state
// in the project.
//
// # No telemetry
//
// Since 1.29 the official builds send telemetry unless it is disabled before
// they load. Open disables it.
//
// # Threads
//
// Sessions run single-threaded on the goroutine that calls them. Parallelism
// is one goroutine per core, which is faster than one session with several
// threads and keeps results independent of the number of threads.
package ort
