// Package demo draws a small image collection, so that the whole pipeline can
// be tried offline with nothing at hand: twelve base classes, four new ones
// with five shots each, and a folder of photos to be labelled, with the truth
// about them in a list. Some of the photos show things of no known class, and
// one is broken.
//
// A class is a description of a few lines: outlines in colours, arranged in
// front of a backdrop. One renderer draws them all, as if cut from paper, and
// varies position, size, hue, light and grain from picture to picture. All
// randomness of a picture comes from the seed and the picture's own path, so
// neither the order of work nor the number of threads changes a byte. Bytes
// may differ between Go releases (the JPEG encoder) and CPU architectures
// (fused multiply-add).
//
// Cost: about 540 pictures of 160 to 240 pixels a side, roughly 15 ms of one
// core each.
package demo
