// Package hierarchy measures hierarchical PPCA against the flat head, in the
// shape of Wang 2023, Tables 5.1 to 5.7: accuracy, super-class accuracy,
// density, speed-up in neurons (eq. 5.1), and wall-clock speed-up.
//
// The data come from a feature folder, whose column split or first folder says train or
// test, or are random Gaussian classes (Synthetic). Both heads get the same examples.
// The wall-clock speed-up is the median, over alternating rounds, of the flat
// head's scoring time divided by the hierarchical head's, on the same rows. It
// and the fit times depend on the machine; everything else in the results is
// the same in every run.
//
// Super-class accuracy is the share of test examples whose class belongs to one
// of the visited super-classes.
package hierarchy
