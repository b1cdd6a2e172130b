// Package table holds the tables of all experiments and benchmarks: rows of
// text under a header, written as Markdown, CSV or aligned text, and the cells
// in them: means with their spread, percentages, differences of pairs.
package table
