// Package model is the MODEL file: a trained Predictor together with everything
// that is needed to use it safely: the backbone's hash, the preprocessing, what
// was learned in which session, and the calibration of the open-set threshold.
//
// # Predictor
//
//	embedding x ──▶ projection g_θ ──▶ head ──▶ temperature T ──▶ log p(c|x), novelty
//
// The base session of a Model trains the projection if there is to be one
// (package dkl), teaches the head, fits T (package classifier/temperature), and
// calibrates the novelty threshold; both fits hold examples out in episodes
// (package classifier/episodes) of the projected rows. Later sessions teach the
// head. A head is asked with a type assertion for what only some can do.
//
// # File
//
// A MODEL is one valid safetensors file (any reader opens it). Its
// __metadata__ holds "format" = "pipeline-model", "version" = "2" and "model",
// the JSON document; its last tensor, sha256, is the SHA-256 of every byte
// before it, so that a cut or altered file is refused. There are no times in
// it: the same training gives the same bytes. docs/formats.md lists the
// tensors.
//
// # Saving
//
// At every instant the name MODEL belongs to a complete file: the new version
// is written and synced under a temporary name, MODEL.prev becomes a link to
// (or a copy of) the old version, and a rename puts the new one in place. Large
// exact statistics live in MODEL.stats-<hash>, written before the MODEL that
// refers to them and removed when neither MODEL nor MODEL.prev does. When two
// processes learn into one MODEL, the later one is told to run again.
//
// # Sessions are sets
//
// What was learned is a set of (content hash, class) pairs. Learning a pair
// again changes nothing, so that a crash after the rename and a second run count
// once; forgetting a pair that is not there is refused.
package model
