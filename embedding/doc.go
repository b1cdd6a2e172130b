// Package embedding turns images into embeddings, in parallel but in input order,
// and never computes one twice.
//
//	embedder, err := embedding.Open(options)
//	defer embedder.Close()
//	rows, err := embedding.Collect(ctx, embedder.Embed(photos))
//
// An [Embedder] combines what turns an image file into its embedding: backbone,
// preprocessing, extractor and cache. It runs a [Stream] of workers. [Rows] are
// embeddings of images or of a feature folder (package featdir), and
// [Provenance] records what computed them.
package embedding
