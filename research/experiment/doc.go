// Package experiment is the framework for reproducing figures and tables of
// papers: pipeline experiment --config NAME --out DIR.
//
// Each kind of experiment is a package below this one, with a Config and a Run
// that turns settings into an Outcome: values, tables, figures. Run gets an
// Env: the seed, the embeddings, and the folder in which Part stores finished
// parts, so that an interrupted run resumes where it stopped. Package kind
// lists the kinds; a new one is a package and a row there. Only Write writes
// results, including those of pipeline fscil, so all runs leave the same files:
//
//	results.json   the complete results of the kind; accuracies are fractions 0–1
//	table.md       all tables with their notes, for people
//	table.csv      the first table; further ones are NAME.csv
//	NAME.png, .svg the figures
//	config.yaml    every setting, resolved; --config reads it back
//	parts/         checkpoints of finished parts; may be deleted
//
// Results contain no timestamps and no local paths: the same settings give the
// same bytes at any number of threads, interrupted or not. Tables of measured
// times say so in their notes.
package experiment
