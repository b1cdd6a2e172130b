// Package photometa reads what a photo says about its pixels besides them: which way is
// up (EXIF, XMP) and what its colours mean (ICC), from every place where tools write it;
// and when it was taken, by which camera.
// Broken metadata is no reason to refuse a picture, so nothing here returns an error.
package photometa
