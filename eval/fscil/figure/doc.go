// Package figure draws what package fscil measured, in the manner of the
// papers: accuracy by session with bands, base against novel classes,
// forgetting, and a map of every class. Everything is in percent. Lines are
// labelled where they end; colours are those of Okabe and Ito, which colour-blind
// readers can tell apart. Published rows are grey and of the same track.
//
// The same results give the same bytes.
package figure
