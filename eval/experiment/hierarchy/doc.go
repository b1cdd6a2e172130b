// Package hierarchy measures hierarchical PPCA against the flat head, in the
// shape of Wang 2023, Tables 5.1 to 5.7: accuracy, accuracy of the
// super-classes, density, speed-up in neurons (eq. 5.1), and speed-up by the
// clock.
//
// Data are a feature folder, whose column split says train and test, or drawn
// Gaussians (Synthetic). Both heads get the same examples. Speed-up by the
// clock is the median, over rounds in turn, of the time in which the flat head
// scores over that of the hierarchical one, on the same rows. It and the
// seconds of fits depend on the machine: everything else in the results is the
// same in every run.
//
// Super-class accuracy is the share of test examples whose class is below one
// of the visited super-classes.
package hierarchy
