// Package libraries obtains what the program needs at run time and does not contain: the
// shared libraries ONNX Runtime, libvips and libheif, which wheels of PyPI hold, through pip, or
// from a file, a folder or an address that the user names. The program pins the SHA-256 of the
// files for every platform. Nothing else is ever stored, whatever it came from, and a file with
// its final name is complete, with all that it needs beside it.
package libraries
