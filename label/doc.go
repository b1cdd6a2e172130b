// Package label scores embeddings and passes the results to sinks. A [Pass]
// reads and scores every row once, and gives the [Scored] row to each [Sink]:
// result files, class folders and sidecars (package organise), an HTML report
// (report), the formats of other programs (export), a ranking (rank), a plan of parts to
// train and test with (split), an [Evaluation].
//
//	summary, err := label.Job{
//		Head:   m.Predictor,
//		Images: embedder.Embed(photos),
//		Out:    out,
//	}.Run(ctx)
//
// A [Job] labels the images of a folder, one result row per image, sorted by
// path. If it is killed, run it again: embeddings come from the cache, and
// every result file is written under a temporary name and renamed when
// complete, so the second run produces the same bytes as an uninterrupted one.
//
// Where all rows have to be seen before the first is labelled, as to adapt a model to them or to find
// events, they are [Kept]: scored once, and read as often as needed.
package label
