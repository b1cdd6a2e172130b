// Package embed turns images into embeddings, in order and in parallel, and
// never computes one twice.
//
// An [Embedder] is everything between an image file and its embedding:
// backbone, preprocessing, extractor and cache. It runs a [Stream] of workers.
// [Rows] are embeddings, of images or of a feature folder (package featdir),
// and [Provenance] says what made them.
package embed
