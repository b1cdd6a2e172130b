// Package organise writes the results of labelling as a tree of class folders
// with links to the photos or copies of them, and as XMP sidecars.
//
// It never writes to, moves or removes a photo. A [Tree] is rebuilt next to the
// old one and replaces it atomically; files in the old tree that this package
// did not create, or that are the last copy of a photo, are carried over.
// [Sidecars] never touches an .xmp file that it did not write.
package organise
