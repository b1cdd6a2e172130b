// Package sharedlib checks, from headers alone, whether a file is a complete
// shared library for this system that has a given function. Loading a truncated
// library kills the process (SIGBUS) before any error can be returned, so every
// library is inspected first. Load then opens libraries that are called without cgo.
package sharedlib
