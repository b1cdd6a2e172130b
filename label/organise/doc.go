// Package organise puts the result of labelling where photos live: a tree of
// class folders with links to the photos or copies of them, and XMP sidecars.
//
// It never writes to, moves or removes a photo. A [Tree] is made anew beside
// the old one and put in its place at once; what is in the old one and did not
// come from here, or is the last copy of a photo, is taken over. [Sidecars]
// leaves every .xmp file alone that it did not write itself.
package organise
