// Package kind lists all kinds of experiments and finds the one that a
// configuration names. A new kind is a package below experiment, a field of
// Config, and a row of Kinds.
package kind
