// Package chart draws all figures in one style: lines labelled at their ends,
// matrices, panels and dendrograms. Colours are those of Okabe and Ito, which
// colour-blind readers can tell apart.
//
// The same values give the same bytes.
package chart
