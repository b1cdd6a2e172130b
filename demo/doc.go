// Package demo paints a small image collection, so that the whole pipeline can
// be tried offline with nothing at hand: twelve base classes, four new ones
// with five shots each, a folder of unlabelled photos (some of no known class,
// one of them broken), and a labelled test set.
//
// Every picture is painted from scratch: a texture or a few things in front of
// a background, then clutter, light, blur, grain and JPEG compression. All
// randomness of a picture comes from the seed and the picture's own name, so
// neither the order of work nor the number of threads changes a byte. Bytes
// may differ between Go releases (the JPEG encoder) and CPU architectures
// (fused multiply-add).
//
// Cost: about 500 pictures of 160 to 240 pixels a side, roughly 10 ms of one
// core each.
package demo
