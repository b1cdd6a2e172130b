// Package classtable is the shell of heads that are tables of classes: whatever
// a class is, it is learned, extended, replaced, scored, forgotten, saved and
// loaded in the same way. A Method supplies what is its own: how a class is
// fitted, what all classes share, how they are scored, and its tensors.
//
//	Learn       Method.Base (base session) → Method.Fit (each class, in parallel) → Method.Settle → Method.Rescore
//	Forget      Method.Settle → Method.Rescore
//	Load        Method.Decode → Method.Fields (each class) → Method.Rescore
//	Score       Method.Scoring
//
// A head embeds one of three types, and so has the optional interfaces of its
// method and no others:
//
//	Head   classifier.Learner, Forgetter, Saver, BackendUser
//	Exact  Head and classifier.SampleForgetter: classes can lose examples
//	Kept   Exact and classifier.StatisticsKeeper: they do so by exact statistics (package moments)
//
// Every change makes a new Model and replaces the old one at the end, so that a
// head is unchanged after an error. A head that loses its last class is unfitted
// again: what the base session set goes with it.
package classtable
