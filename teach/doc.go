// Package teach holds a session in which people teach a model with photos: their
// decisions, the model that follows from them, and what it says about a folder.
//
//	base model + journal ──replay──▶ examples ──fit──▶ model ──score──▶ photos in order
//
// # Journal
//
// Every decision is one line of a file that only grows, MODEL.journal, and is on
// disk before Session.Do returns. Undo and redo are lines too. MODEL.base is the
// model that the journal starts from, perhaps one that has learned nothing. The
// model is a function of these two files, and needs no photo: a line holds the
// embeddings that it teaches, and those that a base model which does not keep its
// own has to unlearn.
//
// # Parts
//
//	record   the two files: base model and journal, opened, guarded and rewritten
//	state    what the lines amount to, a function of them and of what the base model had
//	         learned: labels, examples, what may be decided; no files, no locks
//	naming   what classes are and were called
//	live     the model that follows the state, and its scores of the photos
//	gallery  the photos of the folder with what state and live say of them: views, groups
//	Session  locks, events, and the order in which the others change
//
// # Learning
//
// The examples in force are those of the base model, corrected by the decisions,
// and then the photos that a person labelled, in the order of the decisions. Labels
// that were accepted in bulk are not learned, because the model made them.
//
// A fit trains on all examples, as `pipeline train` does; if the base model does
// not keep its embeddings, it forgets and learns what changed. Fits run in the
// background, when the examples have grown by a quarter since the last, at points that
// the journal records. Between them a head whose scores are linear in features
// (classifier.Linear) follows every decision: only the classes that it touches are
// fitted and scored again. For other heads every decision is followed by a fit.
// Decisions that come during a fit, or before a session is opened, it follows at once.
//
// # Cost
//
// n photos, C classes and p features take 4·n·C bytes of memory, and 4·n·(d+p) bytes
// of a temporary file. A decision takes O(np) for each class that it touches, and
// O(nC) for the order; a fit O(nd² + npC) besides that of training.
package teach
