// Package report writes the results of labelling or evaluating as one HTML
// page that needs nothing else: pictures, styles and the small filter script
// are inside, a content security policy forbids every request, and all names
// are escaped. Without scripts the page shows everything.
//
// Text that comes from files and folders is shown readably whatever its bytes
// are; see the rules at showName.
//
// Cost: time and size are linear in the number of cards, at most
// Page.MaxThumbnails, plus C² cells for the confusion matrix of C classes (up
// to MaxMatrixClasses, beyond which only the most confused pairs are listed).
package report
