// Package bench compares the project with Python (Pillow and onnxruntime):
// features in tests, time in benchmarks. README.md explains how to run them and
// lists the results.
package bench
