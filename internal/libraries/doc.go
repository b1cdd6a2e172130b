// Package libraries obtains the shared libraries that the program loads at run time,
// ONNX Runtime and libjpeg-turbo: through npm, or from a file, a folder or an address
// that the user names. The program pins the SHA-256 of the library files for every
// platform. Nothing else is ever stored, whatever it came from, and a file with its
// final name is complete.
package libraries
