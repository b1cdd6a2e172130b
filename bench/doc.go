// Package bench compares the project with Python (Pillow and onnxruntime): the
// features, as tests, and the time, as benchmarks. README.md says how to run
// them and what they gave.
package bench
