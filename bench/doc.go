// Package bench compares the project with Python (Pillow and onnxruntime):
// features in tests, time in benchmarks. README.md explains how to run them and
// lists the results.
//
// It is for this module's own packages.
package bench
