// Package experiment is the frame of everything that reproduces a figure or a
// table of a paper: pipeline experiment --config NAME --out DIR.
//
// A kind of experiment is a package of its own below this one, with a Config,
// and a Run that turns settings into an Outcome: values, tables, figures. Run
// gets an Env: the seed, the embeddings, and the folder in which Part keeps what
// is finished, so that a run that was stopped goes on where it was. Package kind
// lists the kinds; a new one is a package and a row there. Write is the only
// place that writes results, those of pipeline fscil too, so that all leave the
// same files:
//
//	results.json   what the kind found, in full; accuracies are fractions 0–1
//	table.md       all tables with their notes, for people
//	table.csv      the first table; further ones are NAME.csv
//	NAME.png, .svg the figures
//	config.yaml    every setting, resolved; --config reads it back
//	parts/         checkpoints of finished parts; may be deleted
//
// No times and no paths of the machine enter results: the same settings give
// the same bytes at any number of threads, interrupted or not. What a kind
// measures in seconds stands in tables whose notes say so.
package experiment
