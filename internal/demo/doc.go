// Package demo draws a small image collection, so that the whole pipeline can
// be tried offline without any data: twelve base classes, four new ones with
// five shots each, and a folder of photos to label, with a list of their true
// classes. Some of the photos show no known class, and one is broken.
//
// A class is a description of a few lines: coloured outlines arranged in front
// of a backdrop. One renderer draws them all, as if cut from paper, and varies
// position, size, hue, light and grain from picture to picture. The randomness
// of a picture depends only on the seed and the picture's path, so neither the
// order of work nor the number of threads changes a byte. Bytes may differ
// between Go releases (the JPEG encoder) and CPU architectures (fused
// multiply-add).
//
// Cost: about 540 pictures of 160 to 240 pixels per side, roughly 15 ms on one
// core each.
package demo
