// Package benchmark knows where the published index lists of the few-shot
// class-incremental benchmarks are, and pulls them: a pinned commit, every file
// checked against its SHA-256. The images themselves have terms of their own and
// are for the user to bring.
package benchmark
