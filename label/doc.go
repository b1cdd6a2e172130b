// Package label scores embeddings and does something with them. A [Pass] reads
// every row once, scores it once, and hands the [Scored] row to its [Sink]s:
// result files, class folders and sidecars (package organise), a page (report),
// a ranking (rank), an [Evaluation].
//
// A [Job] is the batch job: the images of a folder in, one row of labels per
// image out. Rows are sorted by path. A run that was killed is simply run
// again: embeddings come from the cache, and every result file is written
// under a temporary name and renamed when it is whole, so the second run ends
// with the bytes that an uninterrupted one would have written.
package label
