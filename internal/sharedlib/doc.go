// Package sharedlib finds shared libraries and calls them without cgo. On Linux,
// loading a truncated library kills the process (SIGBUS) before any error can be
// returned, so its headers are read first.
package sharedlib
