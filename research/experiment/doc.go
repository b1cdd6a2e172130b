// Package experiment is the framework for reproducing figures and tables of
// papers: pipeline experiment --config NAME --out DIR.
//
// Each kind of experiment is a package below this one, whose Config is an
// Experiment. It lists tasks: each measures cells of a grid (package grid), such
// as a method with a number of classes in one run. Env.Measure does those that no
// earlier run has finished, so an interrupted run resumes where it stopped. Tables
// and lines are declared as views of the cells. Package kind lists the kinds; a new
// one is a package and a row there. Only Write writes results, including those of
// pipeline fscil, so all runs leave the same files:
//
//	results.json   all cells with the values of every run; accuracies are fractions 0–1
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
