// Package chart draws the figures of all results in one style: lines labelled
// where they end, and maps of a matrix. Colours are those of Okabe and Ito,
// which colour-blind readers can tell apart.
//
// The same values give the same bytes.
package chart
