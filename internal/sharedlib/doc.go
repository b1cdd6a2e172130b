// Package sharedlib says, from headers alone, whether a file is a whole shared
// library for this system that has a given function. Loading a truncated
// library kills the process (SIGBUS) before any error can be returned, so that
// every library is looked at first.
package sharedlib
