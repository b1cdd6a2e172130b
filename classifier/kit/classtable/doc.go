// Package classtable is the common shell of heads that are tables of classes:
// it learns, extends, replaces, scores, forgets, saves and loads classes in the
// same way, whatever a class is. A Method supplies the rest: how a class is
// fitted, what all classes share, how they are scored, and its tensors.
//
//	Learn       Method.Base (base session) → Method.Fit (each class, in parallel) → Method.Settle → Method.Rescore
//	Forget      Method.Settle → Method.Rescore
//	Load        Method.Decode → Method.Fields (each class) → Method.Rescore
//	Score       Method.Scoring
//
// A head embeds one of three types, and thereby implements the optional
// interfaces that its method supports and no others:
//
//	Head   classifier.Learner, Forgetter, Saver, BackendUser
//	Exact  Head and classifier.SampleForgetter: classes can lose examples
//	Kept   Exact and classifier.StatisticsKeeper: they do so using exact statistics (package moments)
//
// Every change builds a new Model and replaces the old one at the end, so that
// a head is unchanged after an error. A head that loses its last class is
// unfitted again and drops what the base session set.
package classtable
