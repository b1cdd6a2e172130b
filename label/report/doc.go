// Package report writes the results of labelling or evaluating as one
// self-contained HTML page: pictures, styles and a small script are embedded, a
// content security policy forbids all requests except for original photos stored
// next to the page, and all names are escaped. Nothing is hidden without scripts.
//
// Text from files and folders is readable whatever its bytes are; showName has
// the rules.
//
// Cost: time and size are linear in the number of cards, at most
// Page.MaxThumbnails, plus C² cells for the confusion matrix of C classes (up
// to 150, beyond which only the most confused pairs are listed).
package report
