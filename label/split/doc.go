// Package split divides labelled photos into parts to train, validate and test with, so
// that a test says something: what belongs together is in one part.
//
// Together are exact copies, the boxes of a photo, the photos of an event, and photos of a
// class that are alike (classifier/holdout has the rule). These groups are dealt, large ones
// first, to the part that lacks most of their classes, so that every part has its share of
// each class as nearly as whole groups allow. The order of equal groups is random, by the
// seed and the content of the photos: names and folders make no difference.
//
// Cost: a pass over the photos; like photos are looked for among window photos at a time,
// which follow each other by path, O(window·d) of memory and O(128·d) additions a photo.
package split
