// Package advice says what the figures of a model mean for the person who trains it:
// how good it is likely to be, which classes need photos, which may be one, which new
// names look like mistakes, and what to do next while teaching. Commands and the page
// only show it.
//
// Everything is a pure function of figures that the model, or the session, keeps. It
// returns sentences, or values that programs read.
package advice
