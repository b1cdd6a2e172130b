// Package archtest holds the rules of the codebase that a compiler does not
// check, as tests: which package may import which, how long a function may
// be, and that the links in the documents lead somewhere.
package archtest
