// Package model implements the MODEL file: a trained Predictor with everything
// needed to use it safely, namely the backbone's hash, the preprocessing, the
// samples learned in each session, and the calibration of the open-set
// threshold.
//
//	settings := model.Settings{Provenance: rows.Provenance}
//	m, learned, err = model.Train(ctx, settings, model.NewBatch(rows))
//	learned, err = m.Learn(ctx, model.NewBatch(rows))
//	return m.Save(file)
//
// # Predictor
//
//	embedding x ──▶ projection g_θ ──▶ head ──▶ temperature T ──▶ log p(c|x), novelty
//
// The base session trains the optional projection (package dkl), trains the head, fits T,
// and calibrates the novelty threshold. Both fits hold out examples (package
// classifier/holdout/calibration) of the projected rows. Later sessions only train the
// head. Optional abilities of a head are found by type assertion.
//
// # File
//
// A MODEL is one valid safetensors file (any reader opens it). Its __metadata__
// holds "format" = "pipeline-model", "version" = "4" and "model", the JSON
// document; its last tensor, sha256, is the SHA-256 of every byte before it, so
// that a truncated or altered file is refused. It does not say when it was
// made: the same training gives the same bytes. docs/formats-model.md lists the tensors.
//
// # Saving
//
// MODEL is always a complete file: the new version is written and synced under
// a temporary name, MODEL.prev becomes a link to (or a copy of) the old
// version, and a rename puts the new one in place. Large exact statistics are
// stored in MODEL.stats-<hash>, written before the MODEL that refers to them
// and removed when neither MODEL nor MODEL.prev does. When two processes learn
// into one MODEL, the later one gets an error that says to run again.
//
// # Sessions are sets
//
// The learned samples are a set of (content hash, class) pairs. Learning a pair
// again changes nothing, so a crash after the rename followed by a second run
// counts once; forgetting a pair that was not learned is an error. Forgetting
// learns the sessions again without it, see Model.ForgetClass.
package model
