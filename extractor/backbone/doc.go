// Package backbone finds the network that turns images into embeddings: the
// built-in one, a file, or one of the catalogue that was pulled into the cache.
//
// A backbone is known by the SHA-256 of its ONNX file. Resolve goes from what
// a user wrote to a File, FindByHash from the hash that a model recorded, Pull
// from a catalogue entry to a file in the cache. All three hash the very bytes
// that they return or keep, so nothing unverified is ever used.
//
// How a File's images are to be prepared comes from its ONNX metadata key
// "pipeline.preprocess", else from the catalogue by hash, else is unknown.
//
// Loading a File reads and hashes it once: about a second per gigabyte, and
// its size in memory while the File is kept.
package backbone
