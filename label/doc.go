// Package label is the batch job: the images of a folder in, one row of labels
// an image out. Rows are sorted by path. A run that was killed is simply run
// again: embeddings come from the cache, and every result file is written
// under a temporary name and renamed when it is whole, so the second run ends
// with the bytes that an uninterrupted one would have written.
package label
