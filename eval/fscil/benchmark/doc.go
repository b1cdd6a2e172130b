// Package benchmark downloads the published index lists of the few-shot
// class-incremental benchmarks from a pinned commit and checks every file
// against its SHA-256. The images have separate terms of use; users provide
// them.
package benchmark
