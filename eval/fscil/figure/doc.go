// Package figure draws the results of package fscil in the style of the papers:
// accuracy by session with bands, base against novel classes, forgetting, and a
// map of every class. Everything is in percent. Lines are labelled at their
// ends; colours are those of Okabe and Ito, which colour-blind readers can tell
// apart. Published rows of the same track are grey.
//
// The same results give the same bytes.
package figure
