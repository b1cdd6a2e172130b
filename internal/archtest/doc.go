// Package archtest checks rules of the codebase that the compiler does not:
// which package may import which, how long a function may be, and that links in
// the documents are valid.
package archtest
