// Package kind is the list of all kinds of experiments: where a name of a
// configuration becomes something to run. A new kind is a package below
// experiment, a field of Config, and a row of Kinds.
package kind
